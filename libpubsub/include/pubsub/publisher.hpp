// Publishes on one topic, from one thread, at the best speed.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <pubsub/counters.hpp>
#include <pubsub/export.hpp>
#include <pubsub/publishable.hpp>

namespace pubsub {

class bridge_publisher_core;
class endpoint_core;
class publisher_core;

/// Publishes messages to one topic. Keeps its routes at hand, so it is faster than
/// `endpoint::publish`. Thread-safety: one thread at a time; make one publisher per thread.
/// Ordering: every subscriber sees the messages of one publisher in the order of publishing.
class PUBSUB_EXPORT publisher {
public:
  publisher(publisher&&) noexcept;
  publisher& operator=(publisher&&) noexcept;
  ~publisher();

  /// The topic that it publishes on.
  const std::string& topic() const noexcept;

  /// Publishes a value, encoded bytes (which are copied and must be valid) or the value of a
  /// message on this topic; publishing a message of this topic again copies nothing. Blocks while a
  /// queue with policy `block` is full.
  publish_result publish(publishable what);
  /// As `publish`, but blocks for at most `timeout`; then the result is `would_block`.
  publish_result publish_for(publishable what, std::chrono::nanoseconds timeout);
  /// As `publish`, but never blocks; `would_block` where it would.
  publish_result try_publish(publishable what);
  /// Whether the threads of the network write all that is published from now on; off at first.
  /// Otherwise the publishing thread writes to a link that is idle, which is quickest for a message
  /// on its own. Of several messages one after the other, that sends the first alone, and its
  /// receiver is woken for it.
  void leave_writing(bool on) noexcept;

  /// As `endpoint::subscribers`, for this topic.
  std::size_t subscribers() const;
  /// As `endpoint::wait_for_subscribers`, for this topic.
  [[nodiscard]] bool wait_for_subscribers(std::size_t n, std::chrono::nanoseconds timeout) const;
  /// What became of everything handed to this publisher. From any thread.
  publisher_counters counters() const;

private:
  friend class endpoint;
  explicit publisher(std::unique_ptr<publisher_core> core);

  std::unique_ptr<publisher_core> core_;
};

/// Publishes on any topic, from one thread, and never to one subscriber of its endpoint: for a
/// program that passes messages between an endpoint and something else, and takes with that
/// subscriber what goes the other way. Whatever the topics of the two are, nothing that was
/// published comes back. Thread-safety: one thread at a time. Ordering: every other subscriber sees
/// the messages of one bridge_publisher in the order of publishing, over all topics.
class PUBSUB_EXPORT bridge_publisher {
public:
  bridge_publisher(bridge_publisher&&) noexcept;
  bridge_publisher& operator=(bridge_publisher&&) noexcept;
  ~bridge_publisher();

  /// As `endpoint::publish`.
  publish_result publish(std::string_view topic, publishable what);
  /// As `publish`, but blocks for at most `timeout`; then the result is `would_block`.
  publish_result publish_for(std::string_view topic, publishable what,
                             std::chrono::nanoseconds timeout);
  /// As `publish`, but never blocks; `would_block` where it would.
  publish_result try_publish(std::string_view topic, publishable what);
  /// What became of everything handed to this publisher. From any thread.
  publisher_counters counters() const;

private:
  friend class endpoint;
  explicit bridge_publisher(std::unique_ptr<bridge_publisher_core> core);

  std::unique_ptr<bridge_publisher_core> core_;
};

} // namespace pubsub
