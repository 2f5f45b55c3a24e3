// What the nodes of a cluster subscribe to, told from what this member subscribes to itself.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "cluster/event_frames.hpp"

namespace pubsub::cluster {

/// The proxy repeats every subscription to everybody, those of this member included, and each as
/// often as nodes make it. Not thread-safe.
class interests {
public:
  /// Prefixes beyond this number are ignored: a node that makes up more of them shall not make
  /// this one hold them.
  static constexpr std::size_t max_prefixes = 100'000;

  /// This member has subscribed or unsubscribed: that will come back, once.
  void expect_own(std::string_view prefix, bool added) {
    auto& known = known_[std::string{prefix}];
    ++(added ? known.own_added : known.own_removed);
  }

  /// The proxy has repeated it. True if the prefixes of the others are not the same any more.
  bool note(const subscription& what) {
    auto found = known_.find(what.prefix);
    if (found == known_.end()) {
      if (!what.added || known_.size() >= max_prefixes)
        return false;
      found = known_.emplace(std::string{what.prefix}, counts{}).first;
    }
    auto& known = found->second;
    auto& own = what.added ? known.own_added : known.own_removed;
    const auto before = known.others;
    if (own > 0)
      --own;
    else if (what.added)
      ++known.others;
    else if (known.others > 0)
      --known.others;
    const auto after = known.others;
    if (after == 0 && known.own_added == 0 && known.own_removed == 0)
      known_.erase(found);
    return (before == 0) != (after == 0);
  }

  std::set<std::string> of_others() const {
    std::set<std::string> result;
    for (const auto& [prefix, known] : known_)
      if (known.others > 0)
        result.insert(prefix);
    return result;
  }

private:
  struct counts {
    std::size_t others = 0;
    std::size_t own_added = 0; // that have not come back yet
    std::size_t own_removed = 0;
  };

  std::map<std::string, counts, std::less<>> known_;
};

} // namespace pubsub::cluster
