// When a node reports what changes often: its links, and the subscriptions of its clients and
// Broker peers.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <utility>

#include "access/rate_limit.hpp"
#include "node/routing/tuning.hpp"

namespace pubsub {

/// A few changes are reported at once; where many follow one another they are collected and
/// reported together, so that a thousand clients or links that come in a moment cost the network a
/// few reports. A peer may change more subscriptions in a second than the network can take in: then
/// its relay reports them in pieces. Not thread-safe.
class report_pace {
public:
  using time = rate_limit::time;

  report_pace() {
    rate_.set(routing_tuning::changes_of_peers_per_second,
              routing_tuning::changes_of_peers_at_once);
    for (auto* const reports : {&filter_, &links_})
      reports->set(routing_tuning::reports_per_second, routing_tuning::reports_at_once);
  }
  /// `later`: after that time more may be reported. Until it is set there is no limit.
  void call_back_by(std::function<void(std::chrono::nanoseconds)> later,
                    std::function<time()> clock) {
    later_ = std::move(later);
    clock_ = std::move(clock);
  }
  /// How many of these changes of subscriptions may be reported now; the rest when called back.
  std::size_t room_for(std::size_t changes) {
    if (!later_ || changes == 0)
      return changes;
    const auto now = clock_();
    if (!is_time_for(filter_, now))
      return 0;
    const bool too_fast = rate_.take(0, now).count() > 0;
    const auto room = too_fast ? 0 : std::min(changes, routing_tuning::changes_of_peers_at_once);
    const auto wait = rate_.take(room, now);
    if (room < changes)
      call_back_at(now + wait, now);
    return room;
  }
  /// Whether new links may be reported now; if not they may when called back.
  bool may_report_links() { return !later_ || is_time_for(links_, clock_()); }
  /// Counts subscribers for clients that have asked how many there are, where there is time for
  /// that: a tenth of it at most, however many there are.
  template <class Count>
  void count_if_time(Count all) {
    const auto begin = later_ ? clock_() : time{};
    if (later_ && begin < next_count_)
      return call_back_at(next_count_, begin);
    all();
    if (later_)
      next_count_ = clock_() + 9 * (clock_() - begin);
  }
  void note_call_back() noexcept { called_back_at_ = time::max(); }

private:
  bool is_time_for(rate_limit& reports, time now) {
    const auto wait = reports.take(0, now);
    if (wait.count() > 0)
      call_back_at(now + wait, now);
    else
      reports.take(1, now);
    return wait.count() == 0;
  }
  void call_back_at(time when, time now) {
    if (when < called_back_at_) {
      called_back_at_ = when;
      later_(when - now);
    }
  }

  rate_limit rate_;   // of changes of subscriptions
  rate_limit filter_; // of reports
  rate_limit links_;
  time next_count_{};
  std::function<void(std::chrono::nanoseconds)> later_;
  std::function<time()> clock_;
  time called_back_at_ = time::max();
};

} // namespace pubsub
