#include "pattern/versioned/protocol/replica_directory.hpp"

#include <algorithm>

namespace pubsub::pattern {

bool replica_directory::hear(const status_message& x, time_point now) {
  const auto [found, added] = entries_.try_emplace(x.replica);
  auto& its = found->second;
  its = {x, added ? now : its.first_heard, now, false};
  return its.first_heard != now;
}

void replica_directory::heard(const endpoint_id& id, time_point now) {
  if (const auto found = entries_.find(id); found != entries_.end())
    found->second.heard = now;
}

void replica_directory::lose(const endpoint_id& id) {
  if (const auto found = entries_.find(id); found != entries_.end())
    found->second.gone = true;
}

void replica_directory::excuse_silence(time_point now) {
  for (auto& [id, each] : entries_)
    each.heard = now;
}

void replica_directory::forget_old(const id_list& members, time_point now) {
  std::erase_if(entries_, [&](const auto& each) {
    return now - each.second.heard > tuning::times_forgotten * alive_for_ &&
           !contains(members, each.first);
  });
}

bool replica_directory::is_alive(const endpoint_id& id, time_point now) const {
  const auto found = entries_.find(id);
  return id == own_ || (found != entries_.end() && is_alive(found->second, now));
}

bool replica_directory::is_gone(const endpoint_id& id) const {
  const auto found = entries_.find(id);
  return found != entries_.end() && found->second.gone;
}

std::size_t replica_directory::count_alive(const id_list& all, time_point now) const {
  return count_of(all, [&](const auto& each) { return is_alive(each, now); });
}

const status_message* replica_directory::status_of(const endpoint_id& id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second.status;
}

std::vector<const status_message*> replica_directory::alive(time_point now) const {
  std::vector<const status_message*> result;
  for (const auto& [id, each] : entries_)
    if (is_alive(each, now))
      result.push_back(&each.status);
  return result;
}

id_list replica_directory::all() const {
  id_list result;
  for (const auto& [id, each] : entries_)
    result.push_back(id);
  return result;
}

std::uint64_t replica_directory::highest_promise() const {
  std::uint64_t result = 0;
  for (const auto& [id, each] : entries_)
    result = std::max(result, each.status.promised);
  return result;
}

} // namespace pubsub::pattern
