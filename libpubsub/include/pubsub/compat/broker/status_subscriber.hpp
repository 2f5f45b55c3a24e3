// Broker's status_subscriber, over the library's own.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <pubsub/compat/broker/status.hpp>
#include <pubsub/compat/broker/waiting.hpp>
#include <pubsub/status_subscriber.hpp>

namespace broker {
inline namespace over_pubsub {

/// Receives what happens to peers: errors, and changes if asked to; made by
/// `endpoint::make_status_subscriber`. One consuming thread at a time.
class status_subscriber : public detail::waiting<status_variant, status_subscriber> {
public:
  using waiting::get;

  /// Waits for an event. `none` once the endpoint is shut down and nothing is left.
  value_type get() { return one(std::nullopt).value_or(none{}); }
  /// Waits at most so long (a span) or until then (a time); `none` if nothing happened.
  template <class Timeout>
  requires(!std::integral<Timeout>) value_type get(Timeout timeout) {
    return one(detail::deadline_of(timeout)).value_or(none{});
  }

  /// Events that can be read without waiting.
  std::size_t available() const { return native_ ? native_->available() : 0; }
  /// For select and poll: readable while an event is available. -1 after `reset`.
  int fd() const { return native_ ? native_->fd() : -1; }
  /// Ends it; what is not read yet is discarded.
  void reset() { native_.reset(); }
  void set_rate_calculation(bool) {}

private:
  friend class endpoint;
  friend class detail::waiting<status_variant, status_subscriber>;
  explicit status_subscriber(pubsub::status_subscriber native) : native_(std::move(native)) {}

  bool take(std::vector<value_type>& out, std::size_t most, detail::deadline end) {
    if (!native_ || most == 0)
      return false;
    auto event = end ? native_->get_for(detail::left_until(*end)) : native_->get();
    for (; event; event = native_->try_get()) {
      out.push_back(detail::from_native(*event));
      if (--most == 0)
        return true;
    }
    return !out.empty();
  }

  std::optional<pubsub::status_subscriber> native_;
};

} // namespace over_pubsub
} // namespace broker
