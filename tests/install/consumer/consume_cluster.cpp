// Needs pubsub::cluster: joins a Zeek cluster, of which there is none here, and serves WebSockets.
// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/cluster/websocket_member.hpp>
#include <pubsub/cluster/websocket_server.hpp>
#include <pubsub/cluster/zeromq_member.hpp>

#include <cstdio>

int main() {
  using namespace pubsub;
  const auto options = cluster::zeromq_options_from("zeek+zmq://127.0.0.1?xpub=1&xsub=1");
  if (!options)
    return 1;
  const endpoint ep;
  const auto member = cluster::zeromq_member::join(ep, *options);
  if (!member) {
    std::puts(member.error().message().c_str());
    return 1;
  }
  std::printf("the cluster would be a peer at %s\n", member->address().c_str());
  const auto client =
      cluster::websocket_member::join(ep, {.url = "ws://127.0.0.1:1", .application = "consumer"});
  if (!client) {
    std::puts(client.error().message().c_str());
    return 1;
  }
  const auto server = cluster::websocket_server::start(ep, {.address = "ws://127.0.0.1:0"});
  if (!server) {
    std::puts(server.error().message().c_str());
    return 1;
  }
  std::printf("clients would connect to %s\n", server->uri().c_str());
  const auto connections = client->counters().connections + member->counters().connections;
  return connections + server->counters().clients == 0 ? 0 : 1;
}
