// Of a client: the relays that serve it, and what they have told.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pubsub/value/endpoint_id.hpp>

#include "link/peer_link.hpp"
#include "node/routing/route.hpp"
#include "node/routing/tuning.hpp"
#include "route/reports.hpp"
#include "wire/native/network.hpp"

namespace pubsub {

/// A client is linked with relays, of which the first serves it. The others are told which that is:
/// those that reach it stand by, those in a network of their own serve the client as well. Only
/// relays that serve know the filter of the client and get what it publishes. They are asked about
/// each topic once, and tell whether it is wanted, and when that changes.
/// One that retires says so, and serves on until one that has stood by is ready: until the filter
/// of the client is known over that one, too. From then on the client publishes over it; what comes
/// from there waits until the one that retires is gone, and with it all that came before. Not
/// thread-safe.
class serving_relays {
public:
  using directory = std::unordered_map<endpoint_id, std::shared_ptr<peer_link>>;

  /// Relays that serve from now on, and some that do so no more.
  struct change {
    std::vector<endpoint_id> begin, end;
  };

  /// `name`: what the relay calls itself.
  change add(const endpoint_id& who, std::shared_ptr<peer_link> via, std::string name = {}) {
    all_.push_back(
        {.id = who, .via = std::move(via), .name = std::move(name), .number = ++links_begun_});
    if (all_.size() > 1) {
      tell_which_they_are();
      tell_who_is_first(all_.back());
      return {};
    }
    return serve(all_.front());
  }
  /// The link is gone.
  change remove(const endpoint_id& who) {
    const bool was_first = !all_.empty() && all_.front().id == who;
    if (std::erase_if(all_, [&](const auto& each) { return each.id == who; }) == 0)
      return {};
    make_links();
    for (auto& each : all_)
      if (each.follows == who)
        each.follows = {};
    if (all_.empty())
      return {};
    if (!was_first)
      return all_.front().retires ? retire(all_.front().id) : change{};
    for (const auto& each : all_)
      tell_who_is_first(each);
    return all_.front().serves ? change{} : serve(all_.front());
  }
  /// A relay tells which one it reaches that serves the client; nil: none. Itself: it retires.
  change note_reach(const endpoint_id& who, const endpoint_id& reached) {
    if (who == reached)
      return retire(who);
    auto* const found = find(who);
    if (found == nullptr || found == &all_.front())
      return {};
    const bool stands_by = reached == all_.front().id;
    if (!stands_by && !found->serves && !found->retires && reached.is_nil())
      return serve(*found);
    if (!stands_by || !std::exchange(found->serves, false))
      return {};
    found->topics.clear();
    found->bytes = 0;
    make_links();
    return {{}, {who}};
  }

  /// The filter is known over this relay: if it is to follow one that retires, it serves from now
  /// on. True if that changes over which relays the client publishes.
  bool take_over(const endpoint_id& who) {
    const auto found = std::ranges::find(all_, who, &relay::id);
    if (found == all_.end() || found->follows.is_nil() || found->serves)
      return false;
    find(found->follows)->serves = false;
    found->serves = true;
    std::rotate(all_.begin(), found, std::next(found));
    make_links();
    for (const auto& each : all_)
      tell_who_is_first(each);
    return true;
  }
  /// Whether messages of this relay wait for the end of the one that it follows.
  bool must_wait(const endpoint_id& who) const {
    const auto found = std::ranges::find(all_, who, &relay::id);
    return found != all_.end() && !found->follows.is_nil();
  }
  bool any_must_wait() const {
    return std::ranges::any_of(all_, [](const auto& each) { return !each.follows.is_nil(); });
  }

  bool contains(const endpoint_id& who) const {
    return std::ranges::find(all_, who, &relay::id) != all_.end();
  }
  /// Calls `visit(id, name, number)` for each; `number`: which link to a relay this is, from 1.
  template <class Visitor>
  void visit(Visitor&& visit) const {
    for (const auto& each : all_)
      visit(each.id, each.name, each.number);
  }
  /// The links to those that serve.
  const std::shared_ptr<const directory>& links() const noexcept { return links_; }
  /// The first of those that serve; nil where there is none.
  endpoint_id first() const { return all_.empty() ? endpoint_id{} : all_.front().id; }

  /// Whether to send the relay messages on this topic. As long as it has not told it may want them.
  bool may_be_wanted_by(const endpoint_id& who, std::string_view topic) const {
    const auto found = std::ranges::find(all_, who, &relay::id);
    if (found == all_.end() || !found->serves)
      return false;
    const auto asked = found->topics.find(topic);
    return asked == found->topics.end() || asked->second.told.value_or(1) > 0;
  }
  /// What is wanted over such a relay.
  link_wish wish_of(const endpoint_id& who, std::string_view topic) const {
    const auto found = std::ranges::find(all_, who, &relay::id);
    if (found == all_.end())
      return {};
    const auto asked = found->topics.find(topic);
    return asked == found->topics.end() ? link_wish{} : asked->second.wish;
  }
  /// How many want a topic, as far as that is `enough`, will be told.
  void ask(std::string_view topic, std::uint32_t enough) {
    for (auto& each : all_)
      if (each.serves)
        ask(each, topic, enough);
  }
  /// Whether all have told, as far as they were asked for, but those that are silent.
  bool is_told(std::string_view topic) const {
    return std::ranges::all_of(all_, [&](const auto& each) {
      const auto found = each.topics.find(topic);
      return each.silent || found == each.topics.end() || found->second.complete;
    });
  }
  /// Relays that have not told about the topic in good time are silent until they tell something.
  void give_up(std::string_view topic) {
    for (auto& each : all_)
      if (const auto found = each.topics.find(topic); found != each.topics.end())
        each.silent = each.silent || !found->second.complete;
  }
  /// How many want the topic, as was told.
  std::uint32_t told(std::string_view topic) const {
    std::uint32_t sum = 0;
    for (const auto& each : all_)
      if (const auto found = each.topics.find(topic); found != each.topics.end())
        sum += found->second.told.value_or(0);
    return sum;
  }
  /// A relay tells; `wish`: the conditions, read. True if messages on the topic went there before
  /// and do not now, or the other way round, or under other conditions.
  bool note(const endpoint_id& who, const topic_interest& what, link_wish wish = {}) {
    auto* const teller = find(who);
    if (teller == nullptr)
      return false;
    teller->silent = false;
    const auto found = teller->topics.find(what.topic);
    auto before = std::optional<std::uint32_t>{0};
    bool other_conditions = false;
    if (found != teller->topics.end()) {
      auto& known = found->second;
      known.complete = true;
      before = std::exchange(known.told, what.number);
      other_conditions = std::exchange(known.conditions, what.conditions) != what.conditions;
      known.wish = std::move(wish);
    }
    if ((before == 0u && what.number > 0) || (before && other_conditions))
      teller->via->push_control(wire::make_wanted({what.topic, what.number})); // it may wait for it
    return (before.value_or(1) > 0) != (what.number > 0) || other_conditions;
  }

private:
  struct asked_topic {
    std::uint32_t enough = 0;
    std::optional<std::uint32_t> told;
    bool complete = false;                    // told since it was asked for so many
    std::vector<std::string> conditions = {}; // as they were told
    link_wish wish = {};                      // the same
  };
  using asked_topics = std::map<std::string, asked_topic, std::less<>>;
  struct relay {
    endpoint_id id;
    std::shared_ptr<peer_link> via;
    std::string name = {};
    std::uint64_t number = 0;
    bool serves = false;
    bool silent = false;      // it has not told what it was asked for
    bool retires = false;     // it has said so
    endpoint_id follows = {}; // the relay that retires, as long as it is linked
    asked_topics topics = {};
    std::size_t bytes = 0; // of their texts
  };

  relay* find(const endpoint_id& who) {
    const auto found = std::ranges::find(all_, who, &relay::id);
    return found == all_.end() ? nullptr : &*found;
  }
  void tell_who_is_first(const relay& to) const {
    const bool itself = &to == &all_.front();
    to.via->push_control(wire::make_served(itself ? endpoint_id{} : all_.front().id));
  }
  /// Long before two of them lose one another and both serve: what is published from then on comes
  /// to each over the other, once they are linked again.
  void tell_which_they_are() const {
    std::vector<endpoint_id> ids;
    for (const auto& each : all_)
      ids.push_back(each.id);
    if (ids.size() > wire::max_relays_named)
      ids.erase(ids.begin(), ids.end() - wire::max_relays_named);
    for (const auto& each : all_)
      each.via->push_control(wire::make_relays(ids));
  }
  /// The first that stands by gets ready; the relay is told where there is none, or where it has
  /// stood by itself.
  change retire(const endpoint_id& who) {
    auto* const leaving = find(who);
    if (leaving == nullptr)
      return {};
    leaving->retires = true;
    const auto next = std::ranges::find_if(all_, [](const relay& each) {
      return !each.retires && !each.serves && each.follows.is_nil();
    });
    if (leaving != &all_.front() || next == all_.end()) {
      tell_who_is_first(*leaving);
      return {};
    }
    next->follows = who;
    std::rotate(std::next(all_.begin()), next, std::next(next));
    return {{all_[1].id}, {}};
  }
  change serve(relay& who) {
    who.serves = true;
    make_links();
    return {{who.id}, {}};
  }
  void make_links() {
    auto fresh = std::make_shared<directory>();
    for (const auto& each : all_)
      if (each.serves)
        fresh->emplace(each.id, each.via);
    links_ = std::move(fresh);
  }
  /// Null if it has been asked about too many topics.
  static const asked_topic* ask(relay& of, std::string_view topic, std::uint32_t enough) {
    auto found = of.topics.find(topic);
    if (found == of.topics.end()) {
      if (of.topics.size() >= routing_tuning::max_topics_asked ||
          of.bytes + topic.size() > routing_tuning::max_bytes_asked)
        return nullptr;
      found = of.topics.emplace(topic, asked_topic{}).first;
      of.bytes += topic.size();
    }
    auto& at = found->second;
    if (enough > at.enough) {
      at.enough = enough;
      at.complete = false;
      of.via->push_control(wire::make_interest({found->first, enough}));
    }
    return &at;
  }

  std::vector<relay> all_; // in the order in which they were linked
  std::uint64_t links_begun_ = 0;
  std::shared_ptr<const directory> links_ = std::make_shared<const directory>();
};

} // namespace pubsub
