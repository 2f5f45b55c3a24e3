// Routes that messages take no more: whether all that was sent there has arrived.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include <pubsub/value/endpoint_id.hpp>

#include "link/peer_link.hpp"
#include "route/reports.hpp"

namespace pubsub {

/// Messages have gone to these nodes over this link, after so many hops; the next ones will take
/// another route, and must not overtake them.
struct retired_route {
  std::shared_ptr<peer_link> via;
  std::size_t hops = 0;
  std::vector<endpoint_id> nodes;
};

/// The route over `via` for messages that have come so many hops; a new one if need be.
retired_route& part_of(std::vector<retired_route>& all, const std::shared_ptr<peer_link>& via,
                       std::size_t hops);

/// Sends a frame behind the messages that took the old route, and waits until every node has
/// answered that the frame has come; a publisher or link that turns to another route holds its
/// messages until then. So nothing is overtaken, whatever nodes on the route do meanwhile: each
/// does the same. The frame is sent again until there is an answer, because it may be lost with a
/// link further on. Where a full queue does not make its producers wait, this does not make them
/// wait for long either. Thread-safe.
class route_flush {
public:
  /// `on_settled` is called once if all nodes have answered, by the thread that learns it.
  route_flush(const endpoint_id& self, std::uint32_t number, retired_route path,
              std::function<void()> on_settled);

  void send();
  void receive(const flush_answer& answer);
  /// Whether there is nothing to wait for any more: all nodes have answered, the link has been
  /// closed for a while, or the time is up. Sends the frame again if it is time.
  bool settled();
  /// Waits for that. False at `until`.
  bool wait(const deadline& until);

private:
  using clock = std::chrono::steady_clock;

  const endpoint_id self_;
  const std::uint32_t number_;
  const std::shared_ptr<peer_link> via_;
  const std::size_t hops_;
  const std::function<void()> on_settled_;

  std::mutex mutex_; // guards the following
  std::condition_variable answered_;
  std::set<endpoint_id> missing_;
  clock::time_point sent_;
  clock::time_point give_up_;
  bool link_closed_ = false; // seen
};

/// All flushes that wait for answers. Thread-safe.
class route_flushes {
public:
  explicit route_flushes(const endpoint_id& self) : self_(self) {}

  std::shared_ptr<route_flush> begin(retired_route path, std::function<void()> on_settled = {});
  void receive(const flush_answer& answer);

private:
  const endpoint_id self_;
  std::mutex mutex_;                                         // guards the following
  std::map<std::uint32_t, std::weak_ptr<route_flush>> open_; // as long as they are held elsewhere
};

} // namespace pubsub
