// What the clients of a relay have asked about topics, and what they have been told.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pubsub/value/endpoint_id.hpp>

#include "node/routing/tuning.hpp"
#include "route/reports.hpp"

namespace pubsub {

/// How many want a topic, for the client that has asked.
struct interest_news {
  endpoint_id to;
  topic_interest what;
};

/// A client that publishes asks about each topic once, and is told when the answer changes: how
/// many want it, as far as that number is enough for the client. Where a topic comes to be wanted
/// that the client was told is not, the client confirms that it has read the news. Topics are in
/// order, so that a subscription that comes or goes concerns only those that begin with its prefix.
/// If all who want a topic do so under conditions, clients are told these, and confirm each change.
/// While several want a topic they are not counted again with each that comes or goes, but where
/// there is time. Not thread-safe.
class interest_register {
public:
  using time = std::chrono::steady_clock::time_point;

  /// False if the client has asked about too many topics: it is not told.
  bool ask(const endpoint_id& who, const topic_interest& what) {
    auto& asked = asked_by_[who];
    auto found = topics_.find(what.topic);
    const bool known = found != topics_.end() && found->second.askers.contains(who);
    if (!known) {
      if (asked.topics.size() >= routing_tuning::max_topics_asked ||
          asked.bytes + what.topic.size() > routing_tuning::max_bytes_asked)
        return false;
      found = topics_.try_emplace(what.topic).first;
      asked.topics.push_back(&found->first);
      asked.bytes += what.topic.size();
    }
    auto& at = found->second;
    auto& its = at.askers[who];
    its.enough = std::max(its.enough, what.number);
    its.waits = at.waits = true;
    at.most_enough = std::max(at.most_enough, what.number);
    return true;
  }
  void remove(const endpoint_id& who) {
    unconfirmed_.erase(who);
    const auto node = asked_by_.extract(who);
    if (!node)
      return;
    for (const auto* topic : node.mapped().topics) {
      const auto found = topics_.find(*topic);
      if (found->second.askers.erase(who) > 0 && found->second.askers.empty())
        topics_.erase(found);
    }
  }
  bool empty() const noexcept { return topics_.empty(); }

  /// Looks at the topics that begin with `prefix`. `how_many(topic, most)`: how many want the
  /// topic, as far as `most`; `wants(client, topic)`: whether the client is among them;
  /// `under(topic)`: the conditions under which all of them want it.
  template <class Count, class Wants, class Under>
  void look(std::string_view prefix, Count how_many, Wants wants, Under under, time now,
            std::vector<interest_news>& news) {
    for (auto at = topics_.lower_bound(prefix);
         at != topics_.end() && at->first.starts_with(prefix); ++at) {
      auto& its = at->second;
      its.note_conditions(under(at->first));
      if (its.waits || its.conditions_changed || its.counted < several ||
          how_many(at->first, several) < several)
        look_at(at->first, at->second, how_many, wants, now, news);
      else if (its.most_enough >= several)
        outdated_.insert(at->first);
    }
  }
  /// Counts again where that was put off. As `look`.
  template <class Count, class Wants>
  void look_at_outdated(Count how_many, Wants wants, time now, std::vector<interest_news>& news) {
    for (const auto& topic : std::exchange(outdated_, {}))
      if (const auto at = topics_.find(topic); at != topics_.end())
        look_at(at->first, at->second, how_many, wants, now, news);
  }
  bool any_outdated() const noexcept { return !outdated_.empty(); }
  /// The client has read that a topic is wanted.
  void confirm(const endpoint_id& who) {
    const auto found = unconfirmed_.find(who);
    if (found != unconfirmed_.end() && --found->second.number == 0)
      unconfirmed_.erase(found);
  }
  /// Whether all clients know of what is wanted; one that does not say so for long is not waited
  /// for.
  bool all_confirmed(time now) const {
    return std::ranges::all_of(unconfirmed_, [&](const auto& each) {
      return now - each.second.since > routing_tuning::patience_with_clients;
    });
  }

private:
  static constexpr auto not_told = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t several = 2; // a client may be one of them itself

  struct asker {
    std::uint32_t enough = 0;
    std::uint32_t told = not_told;
    bool waits = false; // for an answer
  };
  struct asked_topic {
    std::unordered_map<endpoint_id, asker> askers;
    std::uint32_t most_enough = 0;
    std::uint32_t counted = 0; // as far as most_enough + 1: the client itself may be one
    bool waits = false;        // one of the askers, for an answer
    std::vector<std::string> conditions = {};
    bool conditions_changed = false; // since those who have asked were told

    void note_conditions(std::vector<std::string> now) {
      conditions_changed = conditions_changed || now != conditions;
      conditions = std::move(now);
    }
  };
  struct asked_topics {
    std::vector<const std::string*> topics; // in topics_
    std::size_t bytes = 0;
  };
  struct unconfirmed {
    std::size_t number = 0;
    time since;
  };

  template <class Count, class Wants>
  void look_at(const std::string& topic, asked_topic& at, Count& how_many, Wants& wants, time now,
               std::vector<interest_news>& news) {
    const auto all = static_cast<std::uint32_t>(how_many(topic, std::size_t{at.most_enough} + 1));
    const bool changed = std::exchange(at.conditions_changed, false);
    if (std::exchange(at.counted, all) == all && !at.waits && !changed)
      return;
    at.waits = false;
    for (auto& [who, its] : at.askers) {
      const auto others = all - (all > 0 && all <= at.most_enough && wants(who, topic) ? 1 : 0);
      const auto number = std::min(its.enough, others);
      const auto before = std::exchange(its.told, number);
      if (!std::exchange(its.waits, false) && before == number && !changed)
        continue;
      if ((before == 0 && number > 0) || (before != not_told && changed))
        if (auto& mine = unconfirmed_[who]; mine.number++ == 0)
          mine.since = now;
      news.push_back({who, {topic, number, at.conditions}});
    }
  }

  std::map<std::string, asked_topic, std::less<>> topics_;
  std::set<std::string> outdated_; // topics whose number may have changed
  std::unordered_map<endpoint_id, asked_topics> asked_by_;
  std::unordered_map<endpoint_id, unconfirmed> unconfirmed_;
};

} // namespace pubsub
