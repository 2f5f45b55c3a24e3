// Messages and versions that come on different ways (scheme `tagged`), until both are here. Pure.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "pattern/versioned/protocol/replica_log.hpp"
#include "pattern/versioned/protocol/tuning.hpp"

namespace pubsub::pattern {

/// Not thread-safe.
class tagged_batches {
public:
  /// Returns the entry as soon as its messages are here, too.
  std::optional<log_entry> add_stamp(log_entry what) {
    const key where{what.client, what.run.client_first};
    auto found = bodies_.extract(where);
    if (found.empty()) {
      stamps_.insert_or_assign(where, std::move(what));
      return {};
    }
    bodies_bytes_ -= found.mapped().values.bytes.size();
    return join(std::move(what), std::move(found.mapped()));
  }
  /// Returns the entry as soon as its versions are here, too. Beyond a limit the oldest messages
  /// are dropped: the replica then fetches them from the leader.
  std::optional<log_entry> add_body(const tagged_message& x, const data_message& msg) {
    const key where{x.client, x.first};
    if (auto found = stamps_.extract(where); !found.empty())
      return join(std::move(found.mapped()), {x.values, msg});
    const auto [place, added] = bodies_.try_emplace(where);
    if (added)
      bodies_in_order_.push_back(where);
    bodies_bytes_ += x.values.bytes.size() - place->second.values.bytes.size();
    place->second = {x.values, msg};
    while (bodies_in_order_.size() > tuning::most_bodies ||
           bodies_bytes_ > tuning::most_bodies_bytes)
      drop_oldest();
    return {};
  }
  bool has_stamp(const tagged_message& x) const { return stamps_.contains({x.client, x.first}); }
  /// The versions are not needed any more: the messages came on another way.
  void forget_stamp(const endpoint_id& client, std::uint64_t first) {
    if (!stamps_.empty())
      stamps_.erase({client, first});
  }
  /// An epoch begins: versions of the one before may be given anew.
  void begin_epoch() { stamps_.clear(); }

private:
  using key = std::pair<endpoint_id, std::uint64_t>; // a client and its number
  struct body {
    value_list values;
    data_message storage;
  };

  static std::optional<log_entry> join(log_entry entry, body what) {
    if (what.values.count != entry.run.count)
      return {};
    entry.values = what.values;
    entry.storage = std::move(what.storage);
    return entry;
  }
  /// Places of bodies that have got their stamp are still in the order.
  void drop_oldest() {
    const auto oldest = bodies_.extract(bodies_in_order_.front());
    bodies_in_order_.pop_front();
    if (!oldest.empty())
      bodies_bytes_ -= oldest.mapped().values.bytes.size();
  }

  std::map<key, log_entry> stamps_; // without a body
  std::map<key, body> bodies_;      // without a stamp
  std::deque<key> bodies_in_order_;
  std::size_t bodies_bytes_ = 0;
};

} // namespace pubsub::pattern
