// Fills the log of a replica with what the leader and clients send, acknowledges what is held, and
// fetches what is missing. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "pattern/versioned/protocol/replica_context.hpp"

namespace pubsub::pattern {

/// Messages and versions that come from different senders (scheme `tagged`), until both are here.
/// Not thread-safe.
class tagged_batches {
public:
  /// Returns the entry as soon as its messages are here, too.
  std::optional<log_entry> add_versions(log_entry what) {
    const key where{what.client, what.run.client_first};
    auto found = bodies_.extract(where);
    if (found.empty()) {
      versions_.insert_or_assign(where, std::move(what));
      return {};
    }
    bodies_bytes_ -= found.mapped().values.bytes.size();
    return join(std::move(what), std::move(found.mapped()));
  }
  /// Returns the entry as soon as its versions are here, too. Beyond a limit the oldest messages
  /// are dropped: the replica then fetches them from the leader.
  std::optional<log_entry> add_body(const submit_message& x, const data_message& msg) {
    const key where{x.client, x.first};
    if (auto found = versions_.extract(where); !found.empty())
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
  bool has_versions(const submit_message& x) const {
    return versions_.contains({x.client, x.first});
  }
  /// The versions are not needed any more: the messages came together with theirs.
  void forget_versions(const endpoint_id& client, std::uint64_t first) {
    if (!versions_.empty())
      versions_.erase({client, first});
  }
  /// An epoch begins: versions of the one before may be given anew.
  void begin_epoch() { versions_.clear(); }

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
  /// Places of bodies that have got their versions are still in the order.
  void drop_oldest() {
    const auto oldest = bodies_.extract(bodies_in_order_.front());
    bodies_in_order_.pop_front();
    if (!oldest.empty())
      bodies_bytes_ -= oldest.mapped().values.bytes.size();
  }

  std::map<key, log_entry> versions_; // without a body
  std::map<key, body> bodies_;        // without versions
  std::deque<key> bodies_in_order_;
  std::size_t bodies_bytes_ = 0;
};

/// Not thread-safe. Messages of other epochs than the current one are kept away from it.
class log_follower {
public:
  explicit log_follower(replica_context& self) : self_(self), epoch_(self.epoch), log_(self.log) {}

  void hear(const record_message& x, const data_message& msg, time_point now);
  /// From a client, while another replica leads.
  void hear_body(const submit_message& x, const data_message& msg, time_point now);
  /// From the leader: how far it is. False where there is no other leader.
  bool hear_leader(std::uint64_t commit, time_point now);
  void hear_leader(const status_message& x, time_point now);
  /// Of another leader, or of this replica.
  void begin_epoch(const start_message& x, time_point now);

  /// The leader waits for an acknowledgement: `settle` sends what is due.
  void owe_ack(time_point due) { ack_due_ = std::min(ack_due_, due); }
  void fetch(time_point now);
  /// After several messages.
  void settle(time_point now);
  void tick(time_point now);
  time_point next_tick(time_point now) const;

private:
  /// The leader of the current epoch has numbers that this replica lacks.
  bool may_fetch() const {
    return epoch_.follows() && epoch_.is_current() && (log_.end() < leader_end_ || log_.has_gap());
  }
  void report(bool lacks_next);
  void place(log_entry what, time_point now);
  void acknowledge_above(std::uint64_t number);

  replica_context& self_;
  epoch_state& epoch_;
  replica_log& log_;

  tagged_batches tagged_;
  std::uint64_t leader_end_ = 0; // the highest number that is known to be given
  std::uint64_t leader_commit_ = 0;
  time_point ack_due_ = time_point::max();
  std::uint64_t gap_at_ = 0; // the log ended there
  time_point gap_since_{};
  time_point fetched_{};
};

} // namespace pubsub::pattern
