// Counting without contention: each thread counts for itself, readers add up.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <pubsub/counters.hpp>

namespace pubsub {

/// A counter with one writing thread and any number of readers.
class tally_counter {
public:
  void add(std::uint64_t n) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  std::uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

private:
  std::atomic<std::uint64_t> value_{0};
};

/// What one publishing thread or one link has counted.
struct tally {
  tally_counter published, unwanted, refused, received, forwarded, ttl_expired, malformed_frames;

  void add_to(endpoint_counters& sum) const noexcept {
    sum.published += published.get();
    sum.unwanted += unwanted.get();
    sum.refused += refused.get();
    sum.received += received.get();
    sum.forwarded += forwarded.get();
    sum.ttl_expired += ttl_expired.get();
    sum.malformed_frames += malformed_frames.get();
  }
};

/// Hands out tallies and keeps the sums of those no longer in use. Thread-safe.
class tallies {
public:
  std::shared_ptr<tally> make() {
    std::lock_guard lock{mutex_};
    retire_unused();
    return in_use_.emplace_back(std::make_shared<tally>());
  }
  endpoint_counters sum() const {
    std::lock_guard lock{mutex_};
    auto result = retired_;
    for (const auto& each : in_use_)
      each->add_to(result);
    return result;
  }

private:
  void retire_unused() {
    std::erase_if(in_use_, [this](const auto& each) {
      const bool unused = each.use_count() == 1;
      if (unused)
        each->add_to(retired_);
      return unused;
    });
  }

  mutable std::mutex mutex_; // guards everything below
  std::vector<std::shared_ptr<tally>> in_use_;
  endpoint_counters retired_;
};

} // namespace pubsub
