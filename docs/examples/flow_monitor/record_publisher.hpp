// Publishes connection records as Zeek events. This is the part to copy into a monitor of your own.
#pragma once

#include <pubsub/endpoint.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace flow_monitor {

/// Publishes each record as event `log_conn(record)`, and before the first one that anybody
/// receives, then at most once a second, `log_fields(path, [[name, type], ...])` so that late
/// subscribers can name the columns. Thread-safety: one thread at a time.
class record_publisher {
public:
  using steady = std::chrono::steady_clock;

  record_publisher(pubsub::endpoint& endpoint, const std::string& topic,
                   std::function<steady::time_point()> now = steady::now)
      : publisher_(endpoint.make_publisher(topic)), now_(std::move(now)) {}

  /// Blocks while a link's outbox is full and its policy is `block`.
  void publish(pubsub::vector record);

  [[nodiscard]] const pubsub::publisher& channel() const { return publisher_; }
  [[nodiscard]] std::uint64_t published() const { return published_; }
  /// Records that met no subscriber: nobody had asked for the topic by then.
  [[nodiscard]] std::uint64_t unwanted() const { return unwanted_; }
  /// Records that a full outbox or the endpoint did not take for at least one subscriber.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

private:
  void publish_schema_if_due();

  pubsub::publisher publisher_;
  std::function<steady::time_point()> now_;
  bool has_schema_ = false;
  steady::time_point schema_sent_{};
  std::uint64_t published_ = 0;
  std::uint64_t unwanted_ = 0;
  std::uint64_t dropped_ = 0;
};

} // namespace flow_monitor
