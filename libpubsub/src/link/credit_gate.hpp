// How much of what a peer sends is taken: the other end of credit.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>

#include "link/tuning.hpp"
#include "queue/flow_source.hpp"
#include "wire/native/batch.hpp"

namespace pubsub {

/// Messages that have come the same number of hops over one link, as the queues they enter see
/// them: a full queue pauses this gate, and resumes it. Thread-safety: `pause` and `resume` from
/// any thread, the rest from the link's loop.
class credit_gate final : public flow_source {
public:
  /// Notes that a queue has paused us; it will call `resume` once.
  void pause() noexcept {
    pauses_.fetch_add(1, std::memory_order_relaxed);
    pause_count_.fetch_add(1, std::memory_order_relaxed);
  }
  void resume() noexcept override {
    if (pauses_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      on_resume();
  }
  bool paused() const noexcept { return pauses_.load(std::memory_order_acquire) > 0; }
  /// How often it has been paused.
  std::uint64_t pause_count() const noexcept {
    return pause_count_.load(std::memory_order_relaxed);
  }

  /// A batch has come. False if it, and much more before it, came without credit: a peer that does
  /// not keep to it would fill our memory.
  bool took(std::size_t bytes) noexcept {
    const bool had_credit = owed_ <= wire::first_credit_bytes + link_tuning::most_overdraft_bytes;
    owed_ += bytes;
    return had_credit;
  }
  /// The credit to be given now: none while paused, and small sums not one by one, but for the
  /// first.
  std::uint32_t settle(bool small_too) noexcept {
    const bool much = owed_ >= wire::first_credit_bytes / 4 || !has_given_;
    if (paused() || owed_ == 0 || (!small_too && !much))
      return 0;
    has_given_ = true;
    const auto given = std::min<std::uint64_t>(owed_, std::numeric_limits<std::uint32_t>::max());
    owed_ -= given;
    return static_cast<std::uint32_t>(given);
  }
  /// Whether credit was ever given back.
  bool has_given() const noexcept { return has_given_; }

  std::function<void()> on_resume; ///< set before the gate is in use

private:
  std::atomic<int> pauses_{0};
  std::atomic<std::uint64_t> pause_count_{0};
  bool has_given_ = false;
  std::uint64_t owed_ = 0; // what came and was not given back: no more than the first credit
};

} // namespace pubsub
