// What the leader of a group does with messages: gives them versions, forwards and repeats them,
// and says which all members hold. Pure; exists while this replica leads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <utility>

#include "pattern/versioned/protocol/group_membership.hpp"

namespace pubsub::pattern {

/// Not thread-safe.
class sequencer {
public:
  sequencer(replica_context& self, group_membership& members)
      : self_(self), epoch_(self.epoch), members_(members), log_(self.log), forwarded_(log_.end()) {
  }

  /// Gives versions to messages that are the next of their client, and answers for those that have
  /// one. While a replica joins the message is put aside.
  void submit(const submit_message& x, const data_message& msg, time_point now);
  /// What was put aside while a replica joined, once none joins any more.
  std::vector<data_message> take_held_back() {
    return members_.is_joining() ? std::vector<data_message>{} : std::exchange(held_back_, {});
  }
  /// What this replica lacks goes to it again.
  void repeat(const held_message& x);
  /// After several messages: what all members hold by now is committed.
  void settle(time_point now);
  void tick(time_point now);
  time_point next_tick(time_point now) const;

  bool needs_snapshot() const { return !need_snapshot_.empty() && log_.is_between_entries(); }
  void send_snapshot(std::span<const std::byte> state);

private:
  bool is_new(const submit_message& x);
  void assign_versions(const submit_message& x, const data_message& msg, time_point now);
  void grant(const endpoint_id& client, const version_run& run, bool holds);
  void forward_pending();
  record_message record_of(const log_entry& entry, std::uint64_t flags) const;

  replica_context& self_;
  const epoch_state& epoch_;
  group_membership& members_;
  replica_log& log_;

  std::uint64_t forwarded_; // numbers up to here
  std::vector<data_message> held_back_;
  time_point commit_due_ = time_point::max(); // when others hear of it at the latest
  std::set<endpoint_id> need_snapshot_;
};

} // namespace pubsub::pattern
