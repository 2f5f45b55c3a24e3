// Which epoch a replica lives in and who leads it: promises, elections, and the first epoch of a
// new group. Pure. docs/decisions/019 argues why two leaders never both decide.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "pattern/versioned/protocol/replica_context.hpp"

namespace pubsub::pattern {

/// The members of a group from some point on. Lists of an epoch are numbered; each differs from the
/// one before by one member, so that majorities of the two have a member in common.
struct member_list {
  std::uint64_t epoch = 0;
  std::uint64_t number = 0;
  id_list members;

  bool newer_than(const member_list& x) const noexcept {
    return epoch != x.epoch ? epoch > x.epoch : number > x.number;
  }
};

enum class replica_role : std::uint8_t { follower, candidate, leader };

/// What a replica knows of its group.
struct epoch_state {
  endpoint_id group;          ///< nil: none yet
  std::uint64_t promised = 0; ///< messages of earlier epochs are refused
  std::uint64_t epoch = 0;    ///< the last that has begun here
  endpoint_id leader;         ///< of that epoch
  replica_role role = replica_role::follower;
  member_list list;          ///< the newest that is known
  std::uint64_t decided = 0; ///< the newest list of the epoch that is known to be in force

  /// No later epoch was promised.
  bool is_current() const noexcept { return epoch == promised; }
  bool is_current(const endpoint_id& in, std::uint64_t number) const noexcept {
    return in == group && number == epoch && is_current();
  }
  /// The newest list is not in force yet.
  bool list_pending() const noexcept { return decided < list.number; }
  bool follows() const noexcept { return role == replica_role::follower; }
  /// This replica is the sequencer: its first list is in force.
  bool leads() const noexcept { return role == replica_role::leader && decided > 0; }
};

/// Not thread-safe. Members that return whether this replica has won an election leave it the
/// leader of a new epoch whose list is not in force yet.
class epoch_agreement {
public:
  epoch_agreement(const replica_context& self, time_point now) : self_(self), begun_(now) {}

  const epoch_state& state() const noexcept { return state_; }
  bool is_member() const { return contains(state_.list.members, self_.id); }
  void heard_leader(time_point now) { leader_heard_ = now; }

  // Election.
  /// A replica without a leader or a group looks whether it should run; true: it has won.
  [[nodiscard]] bool tick(time_point now);
  /// When `tick` has something to do, if that is known; else never.
  time_point next_tick() const noexcept { return run_at_.value_or(time_point::max()); }
  /// Asks for promises of a new epoch; true: it has won.
  [[nodiscard]] bool run(time_point now);
  /// Whether it promises the epoch to the candidate; a leader steps down by that.
  bool accept(const prepare_message& x, time_point now);
  promise_message promise(const endpoint_id& group) const;
  [[nodiscard]] bool hear(const promise_message& x);
  /// Follows, whatever it was.
  void step_down() { state_.role = replica_role::follower; }

  // What the leader has said, or this one as the leader.
  /// Whether the epoch may begin here.
  bool may_follow(const start_message& x) const;
  /// Returns whether the epoch was new here.
  bool follow(const start_message& x, time_point now);
  /// Adopts the list if it is newer.
  void learn(member_list x);
  void decide(std::uint64_t number) { state_.decided = std::max(state_.decided, number); }

private:
  bool look_for_group(time_point now);
  bool look_for_leader(time_point now);
  bool leader_is_alive(time_point now) const;
  bool knows_group(time_point now) const;
  bool count_promises();
  void win(const id_list& members);
  const endpoint_id& group_to_lead() const {
    return state_.group.is_nil() ? promised_group_ : state_.group;
  }

  const replica_context& self_;
  const time_point begun_;

  epoch_state state_;
  endpoint_id promised_group_; // a new group that this replica has agreed to
  endpoint_id promised_to_;    // the candidate of the promised epoch
  time_point leader_heard_{};

  std::map<endpoint_id, member_list> promises_; // to this candidate
  id_list first_members_;                       // of a new group that it wants to begin
  time_point run_until_{};
  std::optional<time_point> run_at_; // there is no leader to follow
  std::uint64_t runs_ = 0;           // in vain, one after the other
};

} // namespace pubsub::pattern
