#include "route/subscription_table.hpp"

#include <algorithm>

namespace pubsub {

void subscription_table::add_local(subscriber_id who, const filter& wanted) {
  locals_[who].assign(wanted.begin(), wanted.end());
}

bool subscription_table::add_local_topic(subscriber_id who, std::string_view prefix) {
  auto found = locals_.find(who);
  if (found == locals_.end() || std::ranges::find(found->second, prefix) != found->second.end())
    return false;
  found->second.emplace_back(prefix);
  return true;
}

bool subscription_table::remove_local_topic(subscriber_id who, std::string_view prefix) {
  auto found = locals_.find(who);
  return found != locals_.end() && std::erase(found->second, prefix) > 0;
}

void subscription_table::remove_local(subscriber_id who) {
  locals_.erase(who);
}

filter subscription_table::local_filter(subscriber_id who) const {
  auto found = locals_.find(who);
  return found == locals_.end() ? filter{} : filter{found->second};
}

void subscription_table::set_peer(const endpoint_id& who, filter announced) {
  peers_[who] = std::move(announced);
}

void subscription_table::remove_peer(const endpoint_id& who) {
  peers_.erase(who);
}

const filter* subscription_table::peer_filter(const endpoint_id& who) const {
  auto found = peers_.find(who);
  return found == peers_.end() ? nullptr : &found->second;
}

filter subscription_table::announcement_for(const endpoint_id& peer) const {
  filter result = forward_topics_;
  for (const auto& [who, prefixes] : locals_)
    for (const auto& prefix : prefixes)
      result.add(prefix);
  if (forwarding_)
    for (const auto& [who, announced] : peers_)
      if (who != peer)
        result.add(announced);
  return result;
}

std::vector<subscriber_id> subscription_table::locals() const {
  std::vector<subscriber_id> result;
  for (const auto& [who, prefixes] : locals_)
    result.push_back(who);
  return result;
}

std::vector<endpoint_id> subscription_table::peers() const {
  std::vector<endpoint_id> result;
  for (const auto& [who, announced] : peers_)
    result.push_back(who);
  return result;
}

prefix_index subscription_table::local_index() const {
  prefix_index result;
  prefix_index::target position = 0;
  for (const auto& [who, prefixes] : locals_) {
    for (const auto& prefix : prefixes)
      result.add(prefix, position);
    ++position;
  }
  return result;
}

prefix_index subscription_table::peer_index() const {
  prefix_index result;
  prefix_index::target position = 0;
  for (const auto& [who, announced] : peers_) {
    for (const auto& prefix : announced)
      result.add(prefix, position);
    ++position;
  }
  return result;
}

} // namespace pubsub
