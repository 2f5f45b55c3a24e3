// The command line of flow_monitor as a plain struct.
#pragma once

#include "flow_table.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace flow_monitor {

struct options {
  std::string read_file; ///< exactly one of these two is set
  std::string interface_name;
  std::string filter;     ///< pcap-filter expression; empty lets everything through
  std::string write_file; ///< empty for no log
  std::string topic = "zeek/records/conn";
  std::vector<std::string> listen_uris;
  std::vector<std::string> peer_uris;
  std::size_t wait_subscribers = 0;
  std::chrono::milliseconds timeout{10'000}; ///< for waiting, connecting and draining
  std::optional<std::uint64_t> max_packets;
  std::optional<std::chrono::milliseconds> duration; ///< of a live capture
  flow_limits limits;

  [[nodiscard]] bool has_publishing() const { return !listen_uris.empty() || !peer_uris.empty(); }
};

/// Reads the command line. Returns the exit code instead where there is nothing to run: 0 after
/// --help, 1 after a usage error, which has then been written to stderr.
[[nodiscard]] std::variant<options, int> parse_options(int argc, const char* const* argv);

} // namespace flow_monitor
