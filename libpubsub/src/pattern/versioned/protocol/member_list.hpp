// Who belongs to a group, and what a replica knows of that. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <pubsub/endpoint_id.hpp>

namespace pubsub::pattern {

using id_list = std::vector<endpoint_id>;

inline bool contains(const id_list& all, const endpoint_id& id) {
  return std::ranges::find(all, id) != all.end();
}

/// More than half.
constexpr std::size_t majority(std::size_t n) noexcept {
  return n / 2 + 1;
}

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
  /// This replica is the sequencer: its first list is in force.
  bool leads() const noexcept { return role == replica_role::leader && decided > 0; }
};

} // namespace pubsub::pattern
