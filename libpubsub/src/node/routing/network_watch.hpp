// Which nodes have changed since a reader has looked at them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <utility>

#include <pubsub/network_subscriber.hpp>
#include <pubsub/value/endpoint_id.hpp>

#include "node/routing/told_network.hpp"
#include "queue/deadline.hpp"
#include "queue/event_fd.hpp"

namespace pubsub {

/// The router notes the nodes that have changed, each once, however often it does; the reader looks
/// at them when it wants news. So a reader that is slow costs no more than the network is large.
/// What ends it, and `touch`, from any thread, everything else from the reader's.
class network_watch {
public:
  void touch(const endpoint_id& node) {
    std::lock_guard lock{mutex_};
    if (finished_ || !touched_.insert(node).second)
      return;
    order_.push_back(node);
    fd_.set();
    changed_.notify_one();
  }
  /// Nothing will change any more.
  void finish() { end(false); }
  /// The same, and what has changed is of no interest.
  void discard() { end(true); }

  /// `look(node, visit)` calls `visit(view)` with the node as it is now, or null.
  template <class Look>
  received<network_event> pull(Look&& look, const deadline& until) {
    if (const auto why = find_news(look, until); why != receive_status::received)
      return why;
    auto result = std::move(news_.front());
    news_.pop_front();
    std::lock_guard lock{mutex_};
    clear_if_idle();
    return result;
  }
  template <class Look>
  bool available(Look&& look) {
    return find_news(look, immediately()) == receive_status::received;
  }
  int fd() {
    std::lock_guard lock{mutex_};
    return fd_.open(finished_ || !order_.empty() || !news_.empty());
  }

private:
  void end(bool forget) {
    std::lock_guard lock{mutex_};
    finished_ = true;
    if (forget)
      order_.clear();
    fd_.set();
    changed_.notify_all();
  }
  template <class Look>
  receive_status find_news(Look& look, const deadline& until) {
    while (news_.empty()) {
      const auto node = next_touched(until);
      if (!node.has_value())
        return node.status();
      look(*node, [&](const node_view* now) { told_.compare(*node, now, news_); });
    }
    return receive_status::received;
  }
  /// A node that changes while it is looked at is touched again.
  received<endpoint_id> next_touched(const deadline& until) {
    std::unique_lock lock{mutex_};
    clear_if_idle();
    wait_until(changed_, lock, until, [&] { return finished_ || !order_.empty(); });
    if (order_.empty())
      return finished_ ? receive_status::closed : receive_status::timeout;
    const auto result = order_.front();
    order_.pop_front();
    touched_.erase(result);
    return result;
  }
  void clear_if_idle() {
    if (news_.empty() && order_.empty() && !finished_)
      fd_.clear();
  }

  std::mutex mutex_; // guards the following
  std::condition_variable changed_;
  std::unordered_set<endpoint_id> touched_;
  std::deque<endpoint_id> order_; // the same, in the order in which they changed
  bool finished_ = false;
  event_fd fd_;

  told_network told_;              // the reader's
  std::deque<network_event> news_; // the reader's: of one node
};

} // namespace pubsub
