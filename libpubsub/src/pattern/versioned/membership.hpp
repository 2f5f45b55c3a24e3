// Who belongs to a group, as a decided list. Pure.
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

} // namespace pubsub::pattern
