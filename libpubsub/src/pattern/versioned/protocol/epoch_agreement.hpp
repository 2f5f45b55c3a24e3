// Which epoch a replica lives in and who leads it: promises, elections, and the first epoch of a
// new group. Pure. docs/decisions/019 argues why two leaders never both decide.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "pattern/versioned/protocol/replica_context.hpp"

namespace pubsub::pattern {

/// Where this replica wins an election it has the role of a leader, of an epoch whose list is not
/// in force yet. Not thread-safe.
class epoch_agreement {
public:
  epoch_agreement(replica_context& self, time_point now)
      : self_(self), state_(self.epoch), begun_(now) {}

  /// A replica without a leader or a group looks whether it should run.
  void tick(time_point now);
  /// When `tick` has something to do, if that is known; else never.
  time_point next_tick() const noexcept { return run_at_.value_or(time_point::max()); }
  /// Asks for promises of a new epoch.
  void run(time_point now);
  /// Whether it promises the epoch to the candidate; a leader steps down by that.
  bool accept(const prepare_message& x, time_point now);
  /// It may be a promise.
  void hear(const status_message& x);
  /// Whether the epoch of another leader may begin here.
  bool may_follow(const start_message& x, time_point now) const;
  /// Returns whether the epoch was new here.
  bool follow(const start_message& x, time_point now);

private:
  bool is_credible(const epoch_state& at, time_point now) const;
  bool is_next(std::uint64_t epoch) const noexcept;
  void look_for_group(time_point now);
  void look_for_leader(time_point now);
  bool leader_is_alive(time_point now) const;
  bool knows_group(time_point now) const;
  void count_promises();
  void win(const id_list& members);
  const endpoint_id& group_to_lead() const {
    return state_.group.is_nil() ? promised_group_ : state_.group;
  }

  replica_context& self_;
  epoch_state& state_;
  const time_point begun_;
  endpoint_id promised_group_; // a new group that this replica has agreed to

  std::map<endpoint_id, member_list> promises_; // to this candidate
  id_list first_members_;                       // of a new group that it wants to begin
  time_point run_until_{};
  std::optional<time_point> run_at_; // there is no leader to follow
  std::uint64_t runs_ = 0;           // in vain, one after the other
};

} // namespace pubsub::pattern
