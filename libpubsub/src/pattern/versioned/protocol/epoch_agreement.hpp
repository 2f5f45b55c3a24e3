// Which epoch a replica lives in and who leads it: promises, elections, and the first epoch of a
// new group. Pure. docs/decisions/019 argues why two leaders never both decide.
#pragma once

#include <chrono>
#include <map>
#include <optional>

#include "pattern/versioned/protocol/replica_directory.hpp"
#include "pattern/versioned/protocol/versioned_port.hpp"

namespace pubsub::pattern {

/// Not thread-safe. Members that return whether this replica has won an election leave it the
/// leader of a new epoch whose list is not in force yet.
class epoch_agreement {
public:
  using time = std::chrono::steady_clock::time_point;

  epoch_agreement(const endpoint_id& own, const replica_options& options,
                  const replica_directory& others, versioned_port& port, time now)
      : own_(own), options_(options), others_(others), port_(port), begun_(now) {}

  const epoch_state& state() const noexcept { return state_; }
  bool is_member() const { return contains(state_.list.members, own_); }
  bool leader_is_alive(time now) const;
  void heard_leader(time now) { leader_heard_ = now; }

  // Election.
  /// A replica without a leader or a group looks whether it should run; true: it has won.
  [[nodiscard]] bool tick(time now);
  /// When `tick` has something to do, if that is known.
  std::optional<time> next_tick() const noexcept { return run_at_; }
  /// Asks for promises of a new epoch; true: it has won.
  [[nodiscard]] bool run(time now);
  /// Whether it promises the epoch to the candidate; a leader steps down by that.
  bool accept(const prepare_message& x, time now);
  promise_message promise(const endpoint_id& group) const;
  [[nodiscard]] bool hear(const promise_message& x, time now);
  /// Follows, whatever it was.
  void step_down() { state_.role = replica_role::follower; }

  // What the leader has said, or this one as the leader.
  /// Whether the epoch may begin here.
  bool may_follow(const start_message& x) const;
  /// Returns whether the epoch was new here.
  bool follow(const start_message& x, time now);
  /// Adopts the list if it is newer.
  void learn(member_list x);
  void decide(std::uint64_t number) { state_.decided = std::max(state_.decided, number); }

private:
  bool look_for_group(time now);
  bool look_for_leader(time now);
  bool count_promises();
  void win(const id_list& members);
  std::size_t rank(time now) const;
  const endpoint_id& group_to_lead() const {
    return state_.group.is_nil() ? promised_group_ : state_.group;
  }

  const endpoint_id own_;
  const replica_options& options_;
  const replica_directory& others_;
  versioned_port& port_;
  const time begun_;

  epoch_state state_;
  endpoint_id promised_group_; // a new group that this replica has agreed to
  endpoint_id promised_to_;    // the candidate of the promised epoch
  time leader_heard_{};

  std::map<endpoint_id, member_list> promises_; // to this candidate
  id_list first_members_;                       // of a new group that it wants to begin
  time run_until_{};
  std::optional<time> run_at_; // there is no leader to follow
  std::uint64_t runs_ = 0;     // in vain, one after the other
};

} // namespace pubsub::pattern
