// Publishes on one topic, from one thread, at the best speed.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <pubsub/counters.hpp>
#include <pubsub/data.hpp>
#include <pubsub/data_message.hpp>
#include <pubsub/fwd.hpp>
#include <pubsub/publish_result.hpp>

namespace pubsub {

class endpoint_core;
class publisher_core;

/// Publishes messages to one topic. Keeps its routes at hand, so it is faster than
/// `endpoint::publish`. Thread-safety: one thread at a time; make one publisher per thread.
/// Ordering: every subscriber sees the messages of one publisher in the order of publishing.
class publisher {
public:
  publisher(publisher&&) noexcept;
  publisher& operator=(publisher&&) noexcept;
  ~publisher();

  const std::string& topic() const noexcept;

  /// Publishes `value`. Blocks while a queue with policy `block` is full.
  publish_result publish(data value);
  /// Publishes a value already encoded as bin::v1 (see data_writer); the bytes are copied.
  publish_result publish_encoded(std::span<const std::byte> value);
  /// Publishes a finished message under its own topic. Publishing the same one again copies
  /// nothing.
  publish_result publish(const data_message& msg);
  /// As `publish`, but blocks for at most `timeout`; then the result is `would_block`.
  publish_result publish(data value, std::chrono::nanoseconds timeout);
  publish_result publish_encoded(std::span<const std::byte> value,
                                 std::chrono::nanoseconds timeout);
  publish_result publish(const data_message& msg, std::chrono::nanoseconds timeout);
  /// As `publish`, but never blocks.
  publish_result try_publish(data value);
  publish_result try_publish_encoded(std::span<const std::byte> value);
  publish_result try_publish(const data_message& msg);

  /// As `endpoint::subscribers`, for this topic.
  std::size_t subscribers() const;
  /// As `endpoint::wait_for_subscribers`, for this topic.
  bool wait_for_subscribers(std::size_t n, std::chrono::nanoseconds timeout) const;
  /// What became of everything handed to this publisher. From any thread.
  publisher_counters counters() const;

private:
  friend class endpoint;
  explicit publisher(std::unique_ptr<publisher_core> core);

  std::unique_ptr<publisher_core> core_;
};

} // namespace pubsub
