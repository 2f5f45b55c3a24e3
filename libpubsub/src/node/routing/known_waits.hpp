// What waits until all nodes know the subscriptions of this one.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include <pubsub/value/endpoint_id.hpp>

#include "node/routing/acknowledgements.hpp"
#include "queue/ready_state.hpp"

namespace pubsub {

/// In the order in which they have begun: versions of our filter only rise, so the first is ready
/// first, and nodes that know what the last one waits for need not be asked for the others. Not
/// thread-safe: the router guards it.
class known_waits {
public:
  using time = std::chrono::steady_clock::time_point;

  /// Until all know our filter of this version.
  void add(const report_version& filter, std::weak_ptr<ready_state> who) {
    if (all_.empty())
      forget_asked();
    all_.push_back({filter, std::move(who)});
  }
  bool empty() const noexcept { return all_.empty(); }

  /// Ends the part of those that are ready. `audience`: the nodes that have to know; `confirmed()`:
  /// whether clients of ours know of all that is wanted.
  template <class Confirmed>
  void settle(const acknowledgements& nodes, const link_directory& audience, Confirmed confirmed) {
    while (!all_.empty()) {
      const auto& [filter, weak] = all_.front();
      const auto who = weak.lock();
      if (who && (misses(nodes, audience, filter) || !confirmed()))
        return;
      if (who)
        who->end_part();
      all_.pop_front();
    }
  }
  /// Nodes that have not been asked yet whether they know what is waited for, and are from now on;
  /// `links`: the version of the links that `audience` is of; 0: it has none.
  std::vector<endpoint_id> take_unasked(const acknowledgements& nodes,
                                        const link_directory& audience, std::uint64_t links) {
    const auto& filter = all_.back().filter;
    if (std::exchange(asked_about_, filter) != filter)
      forget_asked();
    if (std::exchange(links_then_, links) == links && links > 0)
      return {};
    auto result = nodes.missing(audience, filter);
    std::erase_if(result, [this](const auto& each) { return !asked_.insert(each).second; });
    return result;
  }
  /// All are to be asked again.
  void forget_asked() {
    asked_.clear();
    links_then_ = 0;
  }

  /// Whether a timer is to be set: nodes are asked again after that time.
  bool begin_pause(time until) {
    if (all_.empty() || pause_until_ != time::max())
      return false;
    pause_until_ = until;
    return true;
  }
  bool end_pause(time now) {
    if (now < pause_until_)
      return false;
    pause_until_ = time::max();
    std::erase_if(all_, [](const auto& each) { return each.who.expired(); });
    forget_asked();
    return true;
  }

  void close() {
    for (const auto& each : std::exchange(all_, {}))
      if (const auto who = each.who.lock())
        who->close();
  }

private:
  struct wait {
    report_version filter;
    std::weak_ptr<ready_state> who;
  };

  /// The node that was missing at the last look is looked at first: it is, most often.
  bool misses(const acknowledgements& nodes, const link_directory& audience,
              const report_version& filter) {
    if (audience.contains(missed_) && !nodes.knows(missed_, filter))
      return true;
    for (const auto& [node, via] : audience)
      if (!nodes.knows(node, filter)) {
        missed_ = node;
        return true;
      }
    return false;
  }

  std::deque<wait> all_;
  endpoint_id missed_;
  std::unordered_set<endpoint_id> asked_; // about the following, and not forgotten
  report_version asked_about_;
  std::uint64_t links_then_ = 0;   // 0: to be looked at in any case
  time pause_until_ = time::max(); // no timer
};

} // namespace pubsub
