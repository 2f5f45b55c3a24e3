// The leader's side of membership: which list is in force, which replica is lost or joins, and how
// far the members are. Pure; exists while this replica leads. docs/decisions/019 argues why it is
// safe.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "pattern/versioned/protocol/epoch_agreement.hpp"
#include "pattern/versioned/protocol/replica_log.hpp"

namespace pubsub::pattern {

/// Not thread-safe.
class group_membership {
public:
  using time = std::chrono::steady_clock::time_point;

  /// The epoch has been won: announces it to the replicas.
  group_membership(const endpoint_id& own, const std::string& own_name,
                   const replica_options& options, epoch_agreement& epochs,
                   const replica_directory& others, const replica_log& log, versioned_port& port,
                   time now);

  /// Strikes off members that are lost and takes in replicas that have caught up. False: a new
  /// epoch must begin, for another was promised or messages that have a version do not come.
  [[nodiscard]] bool tick(time now);
  void hear(const held_message& x, time now);
  /// A replica that does not know the epoch gets to know it.
  void invite(const status_message& x);

  /// A replica is about to join: nothing may be stamped until it holds all that has a number.
  bool is_joining() const noexcept { return !joining_.is_nil(); }
  /// The list has changed since the last call, or has come into force: others must be told.
  bool take_changed() noexcept { return std::exchange(changed_, false); }
  /// The last number that all members hold, those included whose list is not in force yet.
  std::uint64_t held_by_all() const;

private:
  struct progress {
    std::uint64_t held = 0;
    std::uint64_t config = 0; // the newest list that it knows
  };

  const member_list& list() const { return epochs_.state().list; }
  progress progress_of(const endpoint_id& id) const;
  bool is_overtaken(time now);
  bool strike_off_lost(time now);
  void let_join(time now);
  bool may_join(const endpoint_id& id, time now) const;
  void check_barrier(time now);
  void change(id_list members);
  void check_list();

  const endpoint_id own_;
  const std::string& own_name_;
  const replica_options& options_;
  epoch_agreement& epochs_;
  const replica_directory& others_;
  const replica_log& log_;
  versioned_port& port_;

  std::map<endpoint_id, progress> progress_;
  id_list in_force_;
  start_message start_;
  bool changed_ = false;
  endpoint_id joining_; // nil: none
  time joining_until_{};
  time next_join_{};
  std::optional<time> overtaken_since_; // a replica has promised a later epoch
};

} // namespace pubsub::pattern
