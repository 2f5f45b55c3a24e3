// One finished connection, and the columns it is published and logged in.
#pragma once

#include "packet.hpp"

#include <pubsub/data.hpp>
#include <pubsub/zeek/log.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace flow_monitor {

/// Members are in column order. What is not known stays empty: nullopt, or for text "".
struct conn_record {
  pubsub::timestamp ts{};
  std::string uid;
  pubsub::address orig_h;
  std::uint16_t orig_p = 0;
  pubsub::address resp_h;
  std::uint16_t resp_p = 0;
  transport proto = transport::tcp;
  std::string service;
  std::optional<pubsub::timespan> duration; ///< unset for a single packet, and so are the bytes
  std::optional<std::uint64_t> orig_bytes;
  std::optional<std::uint64_t> resp_bytes;
  std::string conn_state;
  std::optional<bool> local_orig;
  std::optional<bool> local_resp;
  std::uint64_t missed_bytes = 0;
  std::string history;
  std::uint64_t orig_pkts = 0;
  std::uint64_t orig_ip_bytes = 0;
  std::uint64_t resp_pkts = 0;
  std::uint64_t resp_ip_bytes = 0;
  std::optional<std::set<std::string>> tunnel_parents; ///< unset: tunnels are not taken apart
  std::uint64_t ip_proto = 0;
  std::optional<mac_address> orig_l2_addr;
  std::optional<mac_address> resp_l2_addr;
};

struct column {
  std::string_view name;
  std::string_view type; ///< Zeek's name for it
};
inline constexpr std::size_t column_count = 24;
[[nodiscard]] const std::array<column, column_count>& columns();

/// The record as values, one a column, in column order; what is unset becomes pubsub::none.
[[nodiscard]] pubsub::vector to_values(const conn_record& record);

/// The columns as the schema event names them.
[[nodiscard]] pubsub::zeek::log_schema schema();

} // namespace flow_monitor
