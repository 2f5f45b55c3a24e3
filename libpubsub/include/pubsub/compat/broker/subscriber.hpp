// Broker's subscriber, over the library's own.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <pubsub/compat/broker/encoding.hpp>
#include <pubsub/compat/broker/message.hpp>
#include <pubsub/compat/broker/waiting.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/subscriber.hpp>

namespace broker {
inline namespace over_pubsub {

namespace detail {

/// Messages and bytes a subscriber holds before its publishers wait. Broker counts no bytes, and a
/// full queue there stops everything its endpoint receives.
inline constexpr std::size_t queue_messages = std::size_t{1} << 20;
inline constexpr std::size_t queue_bytes = std::size_t{256} << 20;

/// The topics as the library takes them. Those that Broker keeps within the endpoint are left out:
/// a status_subscriber has what comes there.
inline pubsub::filter native_filter(const filter_type& topics) {
  std::vector<std::string> prefixes;
  for (const auto& each : topics)
    if (!is_internal(each))
      prefixes.push_back(each.string());
  return pubsub::filter{std::move(prefixes)};
}

inline data_message from_native(const pubsub::data_message& msg) {
  return make_data_message(topic{pubsub::get_topic(msg)}, decode(pubsub::get_view(msg)));
}

} // namespace detail

/// Receives messages; made by `endpoint::make_subscriber`. One consuming thread at a time;
/// add_topic and remove_topic may be called from any thread.
class subscriber : public detail::waiting<data_message, subscriber> {
public:
  using optional_data_message = std::optional<data_message>;
  using waiting::get;

  /// Waits for a message. Null once the endpoint is shut down and nothing is left.
  data_message get() { return one(std::nullopt).value_or(data_message{}); }
  /// Waits at most so long (a span) or until then (a time); nothing if no message came.
  template <class Timeout>
  requires(!std::integral<Timeout>) optional_data_message get(Timeout timeout) {
    return one(detail::deadline_of(timeout));
  }

  /// Messages that can be read without waiting.
  std::size_t available() const noexcept { return native_ ? native_->available() : 0; }
  /// For select and poll: readable while a message is available. -1 after `reset`.
  int fd() const noexcept { return native_ ? native_->fd() : -1; }
  /// Also receive topics that begin with `x`. Effective here on return, with `block` or without.
  void add_topic(const topic& x, [[maybe_unused]] bool block = false) {
    if (native_ && !is_internal(x))
      native_->add_topic(x.string());
  }
  /// Removes exactly this topic; others that also match keep matching.
  void remove_topic(const topic& x, [[maybe_unused]] bool block = false) {
    if (native_)
      native_->remove_topic(x.string());
  }
  /// Ends it; what is not read yet is discarded.
  void reset() { native_.reset(); }
  /// Broker 1 counts messages in each second if told to; here the library's counters are there.
  void set_rate_calculation(bool) {}

private:
  friend class endpoint;
  friend class detail::waiting<data_message, subscriber>;
  explicit subscriber(pubsub::subscriber native) : native_(std::move(native)) {}

  bool take(std::vector<data_message>& out, std::size_t most, detail::deadline end) {
    if (!native_)
      return false;
    const auto batch =
        end ? native_->get_batch_for(most, detail::left_until(*end)) : native_->get_batch(most);
    if (!batch)
      return false;
    for (const auto& each : *batch)
      out.push_back(detail::from_native(each));
    return true;
  }

  std::optional<pubsub::subscriber> native_;
};

} // namespace over_pubsub
} // namespace broker
