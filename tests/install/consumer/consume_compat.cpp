// A program for Broker's API, over the installed library.
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>

#include <pubsub/compat/broker.hpp>

int main() {
  broker::endpoint server;
  broker::endpoint client;
  auto inbox = server.make_subscriber({"/consumer"});
  const auto port = server.listen("127.0.0.1");
  if (port == 0 || !client.peer("127.0.0.1", port))
    return 2;
  client.publish("/consumer/test", broker::zeek::Event{"consumed", {42u}});
  const auto msg = inbox.get(std::chrono::seconds{30});
  if (!msg)
    return 3;
  const auto event = broker::zeek::Event{get_data(*msg)};
  return event.valid() && event.args() == broker::vector{42u} ? 0 : 4;
}
