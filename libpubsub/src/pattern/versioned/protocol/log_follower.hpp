// Fills the log of a replica with what the leader and clients send, acknowledges what is held, and
// fetches what is missing. Pure.
// SPDX-License-Identifier: BSD-3-Clause
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

/// Batches whose messages and versions come from different senders (scheme `tagged`), of which one
/// half is here: the messages, or the versions of messages that are not here. Not thread-safe.
class tagged_batches {
public:
  /// Returns the whole once its other half is here. Beyond a limit the oldest halves are dropped:
  /// the replica then fetches them from the leader.
  std::optional<log_entry> add(log_entry half) {
    const key where{half.client, half.run.client_first};
    if (auto other = extract(where); !other)
      in_order_.push_back(where);
    else if (other->here != half.here)
      return half.here ? join(std::move(*other), std::move(half))
                       : join(std::move(half), std::move(*other));
    bytes_ += half.values.bytes.size();
    halves_.emplace(where, std::move(half));
    while (in_order_.size() > tuning::most_bodies || bytes_ > tuning::most_bodies_bytes) {
      extract(in_order_.front()); // nothing, where it has become whole
      in_order_.pop_front();
    }
    return {};
  }
  bool has_versions(const endpoint_id& client, std::uint64_t first) const {
    const auto found = halves_.find({client, first});
    return found != halves_.end() && !found->second.here;
  }
  /// The messages have come together with their versions.
  void forget(const endpoint_id& client, std::uint64_t first) {
    if (!halves_.empty())
      extract({client, first});
  }
  /// An epoch begins: versions of the one before may be given anew.
  void begin_epoch() {
    std::erase_if(halves_, [](const auto& each) { return !each.second.here; });
  }

private:
  using key = std::pair<endpoint_id, std::uint64_t>; // a client and its number

  std::optional<log_entry> extract(const key& where) {
    auto found = halves_.extract(where);
    if (found.empty())
      return {};
    bytes_ -= found.mapped().values.bytes.size();
    return std::move(found.mapped());
  }
  static std::optional<log_entry> join(log_entry versions, log_entry messages) {
    if (messages.run.count != versions.run.count)
      return {};
    versions.values = messages.values;
    versions.storage = std::move(messages.storage);
    versions.here = true;
    return versions;
  }

  std::map<key, log_entry> halves_;
  std::deque<key> in_order_; // since they became whole, too
  std::size_t bytes_ = 0;
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
