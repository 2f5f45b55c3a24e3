// Uses the core through its public headers, sockets included.
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <string>

#include <pubsub/pubsub.hpp>
#include <pubsub/zeek/event.hpp>

int main() {
  using namespace std::chrono_literals;
  pubsub::endpoint server;
  auto inbox = server.make_subscriber({"/consumer"});
  auto port = server.listen("127.0.0.1:0");
  pubsub::endpoint client;
  if (!port || !client.peer("127.0.0.1:" + std::to_string(*port)))
    return 2;
  if (!client.wait_for_subscribers("/consumer", 1, 30s))
    return 4;
  auto sent = pubsub::zeek::make_event("consumed", {pubsub::count{42}});
  if (client.publish("/consumer/test", sent) != pubsub::publish_result::taken)
    return 5;
  auto message = inbox.get_for(30s);
  return message && get_topic(*message) == "/consumer/test" && get_data(*message) == sent ? 0 : 3;
}
