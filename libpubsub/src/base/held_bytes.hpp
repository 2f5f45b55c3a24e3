// Memory that a peer makes this node hold, counted wherever it is.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace pubsub {

/// A part of what is held on behalf of one peer: it counts in the peer's total until it goes,
/// whatever keeps it. Thread-safety: the total any thread, each part one at a time.
class held_bytes {
public:
  using total = std::shared_ptr<std::atomic<std::size_t>>;

  /// Without a total nothing is counted.
  explicit held_bytes(total all = {}) noexcept : all_(std::move(all)) {}
  held_bytes(const held_bytes&) = delete;
  held_bytes& operator=(const held_bytes&) = delete;
  ~held_bytes() {
    if (all_)
      all_->fetch_sub(mine_, std::memory_order_relaxed);
  }

  void add(std::size_t bytes) noexcept {
    mine_ += bytes;
    if (all_)
      all_->fetch_add(bytes, std::memory_order_relaxed);
  }

private:
  const total all_;
  std::size_t mine_ = 0;
};

} // namespace pubsub
