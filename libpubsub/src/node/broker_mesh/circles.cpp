#include "node/broker_mesh/circles.hpp"

#include <vector>

namespace pubsub {

bool circles::note(const endpoint_id& from, const endpoint_id& over, std::string_view topic,
                   time now) {
  if (!(over < from))
    return false; // there the other one is closed
  auto& topics = proved_[from];
  const auto found = topics.find(topic);
  if (found != topics.end()) {
    found->second = {over, now};
    return false;
  }
  if (topics.size() >= max_topics)
    return false;
  topics.emplace(topic, proof{over, now});
  close_what_is_proved();
  return true;
}

bool circles::expire(time now) {
  return erase_if([&](const endpoint_id&, const proof& each) { return now - each.last > memory; });
}

void circles::close_what_is_proved() {
  auto result = std::make_shared<closed_topics>();
  for (const auto& [from, topics] : proved_) {
    std::vector<std::string> prefixes;
    for (const auto& [prefix, each] : topics)
      prefixes.push_back(prefix);
    result->emplace(from, filter{prefixes});
  }
  closed_ = std::move(result);
}

} // namespace pubsub
