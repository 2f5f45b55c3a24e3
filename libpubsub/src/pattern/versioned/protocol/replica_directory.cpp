#include "pattern/versioned/protocol/replica_directory.hpp"

namespace pubsub::pattern {

bool replica_directory::hear(const status_message& x, time now) {
  const auto [found, added] = entries_.try_emplace(x.replica);
  auto& its = found->second;
  its = {x, added ? now : its.first_heard, now, false};
  return its.first_heard != now;
}

void replica_directory::heard(const endpoint_id& id, time now) {
  if (const auto found = entries_.find(id); found != entries_.end())
    found->second.heard = now;
}

void replica_directory::lose(const endpoint_id& id) {
  if (const auto found = entries_.find(id); found != entries_.end())
    found->second.gone = true;
}

void replica_directory::excuse_silence(time now) {
  for (auto& [id, each] : entries_)
    each.heard = now;
}

void replica_directory::forget_old(const id_list& members, time now) {
  std::erase_if(entries_, [&](const auto& each) {
    return now - each.second.heard > 30 * options_.liveness_timeout &&
           !contains(members, each.first);
  });
}

bool replica_directory::is_alive(const endpoint_id& id, time now) const {
  const auto found = entries_.find(id);
  return id == own_ || (found != entries_.end() && is_alive(found->second, now));
}

bool replica_directory::is_gone(const endpoint_id& id) const {
  const auto found = entries_.find(id);
  return found != entries_.end() && found->second.gone;
}

std::size_t replica_directory::count_alive(const id_list& all, time now) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(all, [&](const auto& each) { return is_alive(each, now); }));
}

const status_message* replica_directory::status_of(const endpoint_id& id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second.status;
}

id_list replica_directory::all() const {
  id_list result;
  for (const auto& [id, each] : entries_)
    result.push_back(id);
  return result;
}

bool replica_directory::is_overtaken(const endpoint_id& group, std::uint64_t epoch,
                                     time now) const {
  return std::ranges::any_of(entries_, [&](const auto& each) {
    const auto& status = each.second.status;
    return is_alive(each.second, now) && status.group == group && status.promised > epoch;
  });
}

std::uint64_t replica_directory::highest_promise() const {
  std::uint64_t result = 0;
  for (const auto& [id, each] : entries_)
    result = std::max(result, each.status.promised);
  return result;
}

bool replica_directory::knows_group(time now) const {
  return std::ranges::any_of(entries_, [&](const auto& each) {
    return is_alive(each.second, now) && !each.second.status.group.is_nil();
  });
}

id_list replica_directory::without_group(time now) const {
  id_list result{own_};
  for (const auto& [id, each] : entries_)
    if (is_alive(each, now) && each.status.group.is_nil() && each.status.name != own_name_ &&
        each.status.group_size == options_.group_size)
      result.push_back(id);
  std::ranges::sort(result);
  return result;
}

} // namespace pubsub::pattern
