// So many messages a second for each value of a field.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace pubsub::tool {

/// A bucket of tokens for each value: it holds those of a second, and one at least. Values for
/// which there is no room share one bucket, until others have been idle long enough to be full
/// again, and are forgotten. Thread-safe.
class rate_limiter {
public:
  /// Since any point; it may jump, and then no bucket empties.
  using time = std::chrono::nanoseconds;
  static constexpr std::size_t max_values = 65'536;

  explicit rate_limiter(double per_second)
      : per_second_(per_second), most_(std::max(1.0, per_second)) {}

  /// Whether one more message of this value is within the limit.
  bool take(std::uint64_t value, time now) {
    std::lock_guard lock{mutex_};
    auto found = buckets_.find(value);
    if (found == buckets_.end() && (buckets_.size() < max_values || make_room(now)))
      found = buckets_.emplace(value, bucket{most_, now}).first;
    auto& from = found == buckets_.end() ? shared_ : found->second;
    from = {tokens_at(from, now), now};
    if (from.tokens < 1)
      return false;
    from.tokens -= 1;
    return true;
  }
  std::size_t values() const {
    std::lock_guard lock{mutex_};
    return buckets_.size();
  }

private:
  struct bucket {
    double tokens = 0;
    time as_of{0};
  };
  static constexpr std::chrono::seconds time_between_looks{1};

  double tokens_at(const bucket& x, time now) const {
    const std::chrono::duration<double> since = std::max(now - x.as_of, time{0});
    return std::min(most_, x.tokens + per_second_ * since.count());
  }
  /// Forgets full buckets: they are the same as new ones. Not with every message.
  bool make_room(time now) {
    if (now >= looked_ && now - looked_ < time_between_looks)
      return false;
    looked_ = now;
    std::erase_if(buckets_, [&](const auto& each) { return tokens_at(each.second, now) >= most_; });
    return buckets_.size() < max_values;
  }

  const double per_second_;
  const double most_;
  mutable std::mutex mutex_; // guards the following
  std::unordered_map<std::uint64_t, bucket> buckets_;
  bucket shared_;
  time looked_{-std::chrono::hours{1}};
};

} // namespace pubsub::tool
