// A program that uses Broker, and whose events reach any number of relays.
#include <chrono>
#include <csignal>
#include <iostream>

#include <broker/broker.hh>
#include <broker/endpoint.hh>
#include <broker/subscriber.hh>
#include <pubsub/broker/bridge.hpp>

using namespace std::chrono_literals;

namespace {

volatile std::sig_atomic_t stopped = 0;

void stop(int) {
  stopped = 1;
}

/// As the program was before: it knows Broker only.
void report_and_obey(broker::endpoint& theirs) {
  auto orders = theirs.make_subscriber({broker::topic{"orders/"}});
  for (broker::count n = 0; stopped == 0; ++n) {
    theirs.publish(broker::topic{"reports/host"}, broker::vector{n, "all is well"});
    if (const auto order = orders.get(broker::timespan{1s}))
      std::cout << "an order on " << broker::get_topic(*order) << std::endl;
  }
}

} // namespace

int main() {
  std::signal(SIGINT, stop);
  std::signal(SIGTERM, stop);
  broker::endpoint theirs;

  pubsub::endpoint ours;
  pubsub::broker::bridge_options options;
  options.from_broker = {"reports/"};
  options.to_broker = {"orders/"};
  auto bridge = pubsub::broker::bridge::open(theirs, ours, options);
  if (!bridge) {
    std::cerr << bridge.error().message() << std::endl;
    return 1;
  }
  if (const auto peered = ours.peer_async("tcp://127.0.0.1:9999"); !peered) {
    std::cerr << peered.error().message() << std::endl;
    return 1;
  }

  report_and_obey(theirs);

  bridge->close();
  const auto reports = bridge->from_broker();
  std::cout << reports.given << " reports given, " << reports.dropped() << " dropped" << std::endl;
}
