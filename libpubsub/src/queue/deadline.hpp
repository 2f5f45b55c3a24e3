// Until when a call may wait.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace pubsub {

/// No value: without limit.
using deadline = std::optional<std::chrono::steady_clock::time_point>;

/// Saturates: a timeout too long for the clock means no limit.
inline deadline deadline_after(std::chrono::nanoseconds timeout) noexcept {
  const auto now = std::chrono::steady_clock::now();
  if (timeout > std::chrono::steady_clock::time_point::max() - now)
    return {};
  return now + timeout;
}

/// Of a call that never blocks.
inline deadline immediately() noexcept {
  return std::chrono::steady_clock::time_point::min();
}

/// Waits until `met()`, which is looked at whenever `changed` is notified. False at the deadline.
template <class Condition>
bool wait_until(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
                const deadline& until, Condition met) {
  if (until)
    return changed.wait_until(lock, *until, met);
  changed.wait(lock, met);
  return true;
}

} // namespace pubsub
