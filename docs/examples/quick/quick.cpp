// Two endpoints with one peering: what one publishes, the other receives.
#include <chrono>
#include <cstdio>

#include <pubsub/pubsub.hpp>

int main() {
  using namespace std::chrono_literals;

  pubsub::endpoint collector;
  auto alerts = collector.make_subscriber({"/alerts"}); // every topic that starts with /alerts
  auto port = collector.listen("127.0.0.1:0");          // port 0: the system picks a free one
  if (!port)
    return std::fprintf(stderr, "%s\n", port.error().message().c_str()), 1;

  pubsub::endpoint sensor;
  if (auto peered = sensor.peer("127.0.0.1:" + std::to_string(*port)); !peered)
    return std::fprintf(stderr, "%s\n", peered.error().message().c_str()), 2;

  auto scans = sensor.make_publisher("/alerts/scan");
  if (!scans.wait_for_subscribers(1, 5s)) // ready means ready: no sleep, nothing lost
    return 4;
  auto scan = pubsub::vector{"port scan", *pubsub::address::parse("10.0.0.7"), pubsub::count{1024}};
  if (scans.publish(std::move(scan)) != pubsub::publish_result::taken)
    return 5;

  auto message = alerts.get();
  if (!message)
    return 6; // closed meanwhile
  const auto& fields = get<pubsub::vector>(get_data(*message));
  std::printf("%s from %s\n", to_string(fields[0]).c_str(), to_string(fields[1]).c_str());
}
