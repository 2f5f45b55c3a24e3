// Prefix match: which targets have a prefix of a topic. Pure: no I/O, no threads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "route/prefix_key.hpp"
#include "route/radix_tree.hpp"

namespace pubsub {

/// Maps topic prefixes to numbered targets. A copy costs one reference and stays as it is while the
/// original changes; a change costs time in proportion to the length of its prefix, whatever the
/// number of entries; a match costs a step per place on the way where prefixes part. const access
/// is concurrent.
template <class T>
class prefix_index {
public:
  static constexpr auto whenever = std::numeric_limits<std::uint64_t>::max();

  struct target {
    std::uint64_t who = 0;
    T exit{};
    std::uint64_t since = 0; // whatever the user of the index counts in
  };

  /// False if `who` has this prefix already.
  bool add(std::string_view prefix, std::uint64_t who, T exit, std::uint64_t since = 0) {
    return targets_.insert(prefix_key(prefix, who), {who, std::move(exit), since});
  }
  /// False if `who` has not got this prefix.
  bool remove(std::string_view prefix, std::uint64_t who) {
    return targets_.erase(prefix_key(prefix, who));
  }

  bool empty() const noexcept { return targets_.empty(); }

  /// Calls `visit` with a target for each of its prefixes that `topic` starts with, until it
  /// returns false. Returns whether it never did.
  template <class Visitor>
  bool visit(std::string_view topic, Visitor&& visit) const {
    std::string storage;
    return targets_.visit_prefixes(key_text(topic, storage), key_end, visit);
  }
  /// Replaces `found` by the targets with a prefix of `topic` that they have had since `until` or
  /// before, ascending, each once. They can be looked at as long as this index, or a copy, is not
  /// changed.
  void match(std::string_view topic, std::vector<const target*>& found,
             std::uint64_t until = whenever) const;
  /// How many targets have a prefix of `topic`.
  std::size_t count(std::string_view topic) const {
    std::vector<const target*> found;
    match(topic, found);
    return found.size();
  }

private:
  radix_tree<target> targets_;
};

template <class T>
void prefix_index<T>::match(std::string_view topic, std::vector<const target*>& found,
                            std::uint64_t until) const {
  found.clear();
  bool ascending = true;
  visit(topic, [&](const target& each) {
    if (each.since > until)
      return true;
    ascending = ascending && (found.empty() || found.back()->who < each.who);
    found.push_back(&each);
    return true;
  });
  if (ascending)
    return;
  std::ranges::sort(found, {}, &target::who);
  // Not std::ranges::unique: clang before 16 cannot compile libstdc++'s subrange.
  const auto same = [](const target* one, const target* other) { return one->who == other->who; };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
}

} // namespace pubsub
