// Which nodes know our subscriptions, and the questions of clients that wait for that.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <pubsub/value/endpoint_id.hpp>

#include "node/routing/routing_snapshot.hpp"
#include "route/reports.hpp"

namespace pubsub {

/// A node asks all others whether they know its filter, and each answers once it does. A client
/// asks its relay, which answers once all nodes know the filter of the relay, of which that of the
/// client is a part. Not thread-safe: the router guards it.
class acknowledgements {
public:
  /// The node has answered. True if that is news.
  bool note(const endpoint_id& node, const report_version& knows) {
    auto& known = known_[node];
    return std::exchange(known, std::max(known, knows)) < knows;
  }
  /// All nodes are to be asked again.
  void forget() { known_.clear(); }
  /// Whether the node knows our filter of this version.
  bool knows(const endpoint_id& node, const report_version& filter) const {
    return known(node) >= filter;
  }
  /// The nodes that do not know our filter of this version.
  std::vector<endpoint_id> missing(const link_directory& within_reach,
                                   const report_version& filter) const {
    std::vector<endpoint_id> result;
    for (const auto& [node, via] : within_reach)
      if (known(node) < filter)
        result.push_back(node);
    return result;
  }
  /// A question that cannot be answered yet; `filter`: the version of ours that all nodes have to
  /// know first, nothing if it is not reported yet. The node asks again now and then; of each that
  /// asks one question waits.
  void defer(filter_question question, std::optional<report_version> filter) {
    const auto from = question.from;
    if (waiting_.size() >= network_map::max_nodes)
      waiting_.clear(); // they ask again
    waiting_.insert_or_assign(from, deferred{std::move(question), filter});
  }
  bool any_waiting() const noexcept { return !waiting_.empty(); }
  /// Those whose time may have come; `filter`: our version now, nothing if a change waits to be
  /// reported.
  std::vector<filter_question> take_due(const link_directory& within_reach,
                                        std::optional<report_version> filter) {
    auto lowest = report_version{max_number, max_number};
    for (const auto& [node, via] : within_reach)
      lowest = std::min(lowest, known(node));
    std::vector<filter_question> result;
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      auto& [question, needed] = at->second;
      if (!needed)
        needed = filter;
      const bool due = needed && lowest >= *needed;
      if (due)
        result.push_back(std::move(question));
      at = due ? waiting_.erase(at) : std::next(at);
    }
    return result;
  }

private:
  struct deferred {
    filter_question question;
    std::optional<report_version> needed;
  };

  report_version known(const endpoint_id& node) const {
    const auto found = known_.find(node);
    return found == known_.end() ? report_version{} : found->second;
  }

  std::map<endpoint_id, report_version> known_;
  std::map<endpoint_id, deferred> waiting_; // by who asks
};

} // namespace pubsub
