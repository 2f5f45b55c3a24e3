// How fast a node reports what its Broker peers change in their subscriptions.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <utility>

#include "access/rate_limit.hpp"
#include "node/routing/tuning.hpp"

namespace pubsub {

/// A peer may change more in a second than the network can take in: then its relay reports it in
/// pieces. Not thread-safe.
class report_pace {
public:
  report_pace() {
    rate_.set(routing_tuning::changes_of_broker_peers_per_second,
              routing_tuning::changes_of_broker_peers_at_once);
  }
  /// `later`: after that time there may be room for more. Until it is set there is no limit.
  void call_back_by(std::function<void(std::chrono::nanoseconds)> later) {
    later_ = std::move(later);
  }
  /// How many of these changes may be reported now; the rest when called back.
  std::size_t room_for(std::size_t changes, rate_limit::time now) {
    if (!later_ || changes == 0)
      return changes;
    const bool too_fast = rate_.take(0, now).count() > 0;
    const auto room =
        too_fast ? 0 : std::min(changes, routing_tuning::changes_of_broker_peers_at_once);
    const auto wait = rate_.take(room, now);
    if (room < changes && !std::exchange(called_, true))
      later_(wait);
    return room;
  }
  void note_call_back() noexcept { called_ = false; }

private:
  rate_limit rate_;
  std::function<void(std::chrono::nanoseconds)> later_;
  bool called_ = false; // back, in a while
};

} // namespace pubsub
