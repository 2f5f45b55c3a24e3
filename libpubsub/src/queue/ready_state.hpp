// Whether all that something waits for has come about.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

#include "queue/deadline.hpp"
#include "queue/event_fd.hpp"

namespace pubsub {

/// Ready once all its parts have ended, or closed before that; it stays so. Thread-safe.
class ready_state {
public:
  /// With one part. `is_closed`: looked at when the last part ends, must not call this; null:
  /// never.
  explicit ready_state(std::function<bool()> is_closed = nullptr)
      : is_closed_(std::move(is_closed)) {}

  /// Another part; before the last one has ended.
  void add_part() {
    std::lock_guard lock{mutex_};
    ++parts_;
  }
  void end_part() {
    std::lock_guard lock{mutex_};
    if (--parts_ == 0)
      settle(is_closed_ && is_closed_() ? state::closed : state::ready);
  }
  void close() {
    std::lock_guard lock{mutex_};
    settle(state::closed);
  }

  bool ready() const {
    std::lock_guard lock{mutex_};
    return state_ == state::ready;
  }
  bool closed() const {
    std::lock_guard lock{mutex_};
    return state_ == state::closed;
  }
  /// Whether it is ready; false at the deadline as well.
  bool wait(const deadline& until) {
    std::unique_lock lock{mutex_};
    wait_until(settled_, lock, until, [this] { return state_ != state::open; });
    return state_ == state::ready;
  }
  /// Readable once it is ready or closed.
  int fd() {
    std::lock_guard lock{mutex_};
    return fd_.open(state_ != state::open);
  }

private:
  enum class state : std::uint8_t { open, ready, closed };

  /// Called with the mutex held.
  void settle(state as) {
    if (state_ != state::open)
      return;
    state_ = as;
    fd_.set();
    settled_.notify_all();
  }

  mutable std::mutex mutex_; // guards the following
  std::condition_variable settled_;
  const std::function<bool()> is_closed_;
  std::size_t parts_ = 1;
  state state_ = state::open;
  event_fd fd_;
};

} // namespace pubsub
