// A program with an endpoint of Broker beside one of this library, and a bridge between them.
// Without CMake, which finds Broker as well, only the options are looked at.
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>

#ifdef HAS_BROKER
#include <broker/broker.hh>
#include <broker/endpoint.hh>
#endif
#include <pubsub/broker/bridge.hpp>

namespace {

#ifdef HAS_BROKER

bool crosses(const pubsub::broker::bridge_options& options) {
  using namespace std::chrono_literals;
  broker::endpoint theirs;
  pubsub::endpoint ours;
  auto bridge = pubsub::broker::bridge::open(theirs, ours, options);
  if (!bridge || !bridge->wait_ready(20s))
    return false;
  auto sub = ours.make_subscriber({"/"});
  theirs.publish(broker::topic{"/x"}, broker::count{7});
  const auto message = sub.get_for(20s);
  return message && pubsub::get_data(*message) == pubsub::data{pubsub::count{7}};
}

#else

bool crosses(pubsub::broker::bridge_options options) {
  options.from_broker_queue.capacity_messages = 0;
  return !check(options);
}

#endif

} // namespace

int main() {
  pubsub::broker::bridge_options options;
  options.from_broker = {"/"};
  return check(options) && crosses(options) ? 0 : 1;
}
