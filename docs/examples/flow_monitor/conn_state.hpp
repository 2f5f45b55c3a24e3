// The `conn_state` column: how a connection went, in Zeek's thirteen words.
#pragma once

#include "history.hpp"

#include <optional>
#include <string_view>

namespace flow_monitor {

/// What one side of a TCP connection was seen to send.
struct tcp_events {
  bool has_sent = false; ///< any packet at all
  bool has_syn = false;
  bool has_syn_ack = false;
  bool has_fin = false;
};

/// `reset_by` is the side whose RST ended the connection before both sides had closed it.
[[nodiscard]] std::string_view tcp_state(const tcp_events& orig, const tcp_events& resp,
                                         std::optional<side> reset_by);

[[nodiscard]] std::string_view udp_state(bool has_orig_sent, bool has_resp_sent);

} // namespace flow_monitor
