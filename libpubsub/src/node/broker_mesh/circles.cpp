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

bool circles::erase_if(
    const std::function<bool(const endpoint_id& from, const proof& each)>& is_void) {
  std::size_t erased = 0;
  for (auto& [from, topics] : proved_)
    erased += std::erase_if(
        topics, [&, &from = from](const auto& each) { return is_void(from, each.second); });
  std::erase_if(proved_, [](const auto& each) { return each.second.empty(); });
  if (erased > 0)
    close_what_is_proved();
  return erased > 0;
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
