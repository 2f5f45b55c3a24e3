// The leader's side of membership: which list is in force, which replica is lost or joins, and how
// far the members are. Pure; exists while this replica leads. docs/decisions/019 argues why it is
// safe.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "pattern/versioned/protocol/replica_context.hpp"

namespace pubsub::pattern {

/// Not thread-safe.
class group_membership {
public:
  /// The epoch has been won: announces it to the replicas.
  group_membership(replica_context& self, time_point now);

  /// What was announced: the epoch begins like this.
  const start_message& start() const noexcept { return start_; }
  /// Strikes off members that are lost and takes in replicas that have caught up. False: a new
  /// epoch must begin, for another was promised or messages that have a version do not come.
  [[nodiscard]] bool tick(time_point now);
  void hear(const held_message& x, time_point now);
  /// A replica that does not know the epoch gets to know it.
  void invite(const status_message& x);

  /// A replica is about to join: no message may get a version until it holds all that have one.
  bool is_joining() const noexcept { return !joining_.is_nil(); }
  /// The list has changed since the last call, or has come into force: others must hear of it.
  bool take_changed() noexcept { return std::exchange(changed_, false); }
  /// The last number that all members hold, those included whose list is not in force yet.
  std::uint64_t held_by_all();

private:
  struct progress {
    std::uint64_t held = 0;
    std::uint64_t config = 0; // the newest list that it knows
  };

  bool is_overtaken(time_point now);
  bool strike_off_lost(time_point now);
  void let_join(time_point now);
  bool may_join(const endpoint_id& id, time_point now) const;
  void check_barrier(time_point now);
  void change(id_list members);
  void check_list();

  replica_context& self_;
  epoch_state& epoch_;
  const member_list& list_; // the newest
  std::map<endpoint_id, progress> progress_;
  id_list in_force_;
  start_message start_;
  bool changed_ = false;
  endpoint_id joining_; // nil: none
  time_point joining_until_{};
  time_point next_join_{};
  std::optional<time_point> overtaken_since_; // a replica has promised a later epoch
};

} // namespace pubsub::pattern
