// SPDX-License-Identifier: BSD-3-Clause
#include "kit/link_address.hpp"

#include <fmt/format.h>

namespace pubsub::tool::bench {

void add_transport_option(CLI::App& command, std::string& transport) {
  command
      .add_option("--transport", transport,
                  "Between the processes: tcp over loopback, unix (a socket of the host) or tls "
                  "(tcp, encrypted)")
      ->check(CLI::IsMember({"tcp", "unix", "tls"}))
      ->capture_default_str();
}

std::string listening_address(const std::string& transport, const std::string& file) {
  return transport == "unix" ? "unix://" + file : transport + "://127.0.0.1:0";
}

expected<std::string> listen_for_peers(endpoint& ep, const std::string& address) {
  const auto port = ep.listen(address);
  if (!port)
    return port.error();
  if (address.starts_with("unix://"))
    return address;
  return fmt::format("{}:{}", address.substr(0, address.rfind(':')), *port);
}

} // namespace pubsub::tool::bench
