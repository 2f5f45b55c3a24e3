// SPDX-License-Identifier: BSD-3-Clause
#include "station.hpp"

#include "terminal.hpp"

#include <string>

namespace pubsub::tool {

station::station(const connection_options& connection)
    : ep_(connection.for_endpoint()), closer_(ep_, stop_) {
  for (const auto& address : connection.listen) {
    const auto port = ep_.listen(address);
    if (!port) {
      outcome_ = fail(port.error());
      return;
    }
    report_line("port", std::to_string(*port));
  }
  auto peers_only = connection;
  peers_only.listen.clear();
  outcome_ = connect(ep_, peers_only, peering::wait);
}

} // namespace pubsub::tool
