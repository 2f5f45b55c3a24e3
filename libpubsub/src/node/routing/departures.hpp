// What went to nodes that retire, and whether it has arrived there.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <pubsub/value/endpoint_id.hpp>

#include "link/peer_link.hpp"
#include "node/routing/route_flush.hpp"
#include "wire/native/batch.hpp"

namespace pubsub {

/// A node that retires asks the others whether they know that, and again once its clients are
/// served by other relays as well. Each answers when all that it has sent to that node, for
/// whomever, has come there: so behind the answers nothing comes that has not gone another way,
/// too. Thread-safe.
class departures {
public:
  explicit departures(route_flushes& all) : all_(all) {}

  /// Whether all that went to `node` over `via` so far has arrived. If not, `again` is called once
  /// that may have changed; asked after it was true this begins anew.
  bool has_arrived(const endpoint_id& node, const std::shared_ptr<peer_link>& via,
                   const std::function<void()>& again) {
    std::lock_guard lock{mutex_};
    const auto found = under_way_.find(node);
    if (found == under_way_.end()) {
      auto begun = flush(node, via, again);
      if (!begun.empty() && under_way_.size() < most_at_once)
        under_way_.emplace(node, std::move(begun));
      return !under_way_.contains(node);
    }
    std::erase_if(found->second, [](const auto& each) { return each->settled(); });
    if (!found->second.empty())
      return false;
    under_way_.erase(found);
    return true;
  }

private:
  using flushes = std::vector<std::shared_ptr<route_flush>>;
  static constexpr std::size_t most_at_once = 64;

  flushes flush(const endpoint_id& node, const std::shared_ptr<peer_link>& via,
                const std::function<void()>& again) {
    flushes result;
    for (std::size_t hops = 0; hops < wire::max_hops; ++hops)
      if (via->find(hops) != nullptr)
        result.push_back(all_.begin({via, hops, {node}}, again));
    return result;
  }

  route_flushes& all_;
  std::mutex mutex_; // guards the following
  std::map<endpoint_id, flushes> under_way_;
};

} // namespace pubsub
