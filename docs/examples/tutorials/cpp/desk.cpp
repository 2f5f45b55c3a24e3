// Shows three alerts that come over the relay, and what the queue has counted.
#include <cinttypes>
#include <cstdio>
#include <string>

#include <pubsub/pubsub.hpp>

int main() {
  pubsub::endpoint endpoint;
  auto alerts = endpoint.make_subscriber({"/alerts/"});
  if (auto peered = endpoint.peer("127.0.0.1:9999"); !peered)
    return std::fprintf(stderr, "%s\n", peered.error().message().c_str()), 2;

  for (int left = 3; left > 0; --left) {
    auto message = alerts.get(); // waits
    if (!message)
      return std::fprintf(stderr, "closed\n"), 3;
    const auto* alert = get_if<pubsub::vector>(get_data(*message));
    if (alert == nullptr || alert->size() != 3)
      return std::fprintf(stderr, "not an alert: %s\n", to_string(*message).c_str()), 1;
    std::printf("%s: %s from %s, %s ports\n", std::string(get_topic(*message)).c_str(),
                to_string((*alert)[0]).c_str(), to_string((*alert)[1]).c_str(),
                to_string((*alert)[2]).c_str());
  }
  const auto counters = alerts.counters();
  std::printf("offered %" PRIu64 ", delivered %" PRIu64 ", dropped %" PRIu64 "\n", counters.offered,
              counters.delivered, counters.dropped());
}
