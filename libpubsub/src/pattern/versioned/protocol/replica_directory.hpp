// The replicas of a name: what each said last, and whether it is alive. Pure.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <pubsub/value/endpoint_id.hpp>

#include "pattern/versioned/protocol/tuning.hpp"
#include "pattern/versioned/protocol/versioned_messages.hpp"

namespace pubsub::pattern {

using id_list = std::vector<endpoint_id>;

inline bool contains(const id_list& all, const endpoint_id& id) {
  return std::ranges::find(all, id) != all.end();
}

/// How many of a range meet a condition.
template <class Range, class Condition>
std::size_t count_of(const Range& all, Condition met) {
  return static_cast<std::size_t>(std::ranges::count_if(all, met));
}

/// More than half.
constexpr std::size_t majority(std::size_t n) noexcept {
  return n / 2 + 1;
}

/// A replica is alive while it is within reach and was heard within a time. Not thread-safe.
class replica_directory {
public:
  /// The replica `own`, if it is one, is always alive, and not listed.
  replica_directory(const endpoint_id& own, tuning::duration alive_for)
      : own_(own), alive_for_(alive_for) {}

  /// Returns whether the replica was heard earlier than now.
  bool hear(const status_message& x, time_point now) {
    const auto [found, added] = entries_.try_emplace(x.replica);
    auto& its = found->second;
    its = {x, added ? now : its.first_heard, now, false};
    return its.first_heard != now;
  }
  /// A known replica has said something else.
  void heard(const endpoint_id& id, time_point now) {
    if (const auto found = entries_.find(id); found != entries_.end())
      found->second.heard = now;
  }
  /// It was within reach and is not any more.
  void lose(const endpoint_id& id) {
    if (const auto found = entries_.find(id); found != entries_.end())
      found->second.gone = true;
  }
  /// This process has not read: that others were silent says nothing about them.
  void excuse_silence(time_point now) {
    for (auto& [id, each] : entries_)
      each.heard = now;
  }
  /// Forgets replicas that were silent for long and do not belong to `members`.
  void forget_old(const id_list& members, time_point now) {
    std::erase_if(entries_, [&](const auto& each) {
      return now - each.second.heard > tuning::times_forgotten * alive_for_ &&
             !contains(members, each.first);
    });
  }

  bool is_alive(const endpoint_id& id, time_point now) const {
    const auto found = entries_.find(id);
    return id == own_ || (found != entries_.end() && is_alive(found->second, now));
  }
  bool is_gone(const endpoint_id& id) const {
    const auto found = entries_.find(id);
    return found != entries_.end() && found->second.gone;
  }
  std::size_t count_alive(const id_list& all, time_point now) const {
    return count_of(all, [&](const auto& each) { return is_alive(each, now); });
  }
  /// What a replica said last; null if it is not known.
  const status_message* status_of(const endpoint_id& id) const {
    const auto found = entries_.find(id);
    return found == entries_.end() ? nullptr : &found->second.status;
  }
  /// What those that are alive said last.
  std::vector<const status_message*> alive(time_point now) const {
    std::vector<const status_message*> result;
    for (const auto& [id, each] : entries_)
      if (is_alive(each, now))
        result.push_back(&each.status);
    return result;
  }
  id_list all() const {
    id_list result;
    for (const auto& [id, each] : entries_)
      result.push_back(id);
    return result;
  }
  /// The epochs that these have promised, ascending.
  std::vector<std::uint64_t> promises_of(const id_list& all) const {
    std::vector<std::uint64_t> result;
    for (const auto& [id, each] : entries_)
      if (contains(all, id))
        result.push_back(each.status.at.promised);
    std::ranges::sort(result);
    return result;
  }

private:
  struct entry {
    status_message status;
    time_point first_heard{};
    time_point heard{};
    bool gone = false; // out of reach
  };

  bool is_alive(const entry& x, time_point now) const {
    return !x.gone && now - x.heard <= alive_for_;
  }

  const endpoint_id own_;
  const tuning::duration alive_for_;
  std::map<endpoint_id, entry> entries_;
};

} // namespace pubsub::pattern
