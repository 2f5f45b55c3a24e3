// Replies on their way to one client: what its link has no room for is kept, in order.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include <pubsub/publisher.hpp>

#include "pattern/mailbox/partner.hpp"

namespace pubsub::pattern {

/// Never blocks: one client that does not read keeps no worker from the others. Thread-safe.
class reply_outbox {
public:
  using time = std::chrono::steady_clock::time_point;

  explicit reply_outbox(publisher to) : to_(std::move(to)) {}

  enum class outcome : std::uint8_t {
    sent,
    kept,     ///< `flush` tries again
    too_long, ///< for any link
  };
  outcome send(std::span<const std::byte> message);
  /// Only if it goes at once.
  void try_send(std::span<const std::byte> message);
  /// Sends what is kept, and waits for room until then; false if some is left.
  bool flush(time until);
  std::size_t kept_bytes() const;

  /// As of now, whether the client is there, and whether nothing should be kept for it any more.
  bool is_within_reach(time now);
  bool is_forgotten(time now);

private:
  mutable std::mutex mutex_;
  partner to_;
  std::deque<std::vector<std::byte>> kept_;
  std::size_t kept_bytes_ = 0;
};

} // namespace pubsub::pattern
