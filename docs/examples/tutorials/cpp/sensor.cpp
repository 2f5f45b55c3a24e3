// Publishes three alerts over the relay.
#include <chrono>
#include <cstdio>

#include <pubsub/pubsub.hpp>

int main() {
  using namespace std::chrono_literals;

  pubsub::endpoint endpoint;
  if (auto peered = endpoint.peer("127.0.0.1:9999"); !peered)
    return std::fprintf(stderr, "%s\n", peered.error().message().c_str()), 2;

  auto scans = endpoint.make_publisher("/alerts/scan");
  if (!scans.wait_for_subscribers(1, 30s))
    return std::fprintf(stderr, "nobody wants alerts\n"), 4;

  for (pubsub::count ports : {1024, 3, 80}) {
    pubsub::vector alert{"port scan", *pubsub::address::parse("10.0.0.7"), ports};
    if (scans.publish(std::move(alert)) != pubsub::publish_result::taken)
      return std::fprintf(stderr, "an alert was not taken\n"), 3;
  }
}
