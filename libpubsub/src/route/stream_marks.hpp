// How far each stream of messages has been delivered here: nothing twice, nothing out of order.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include <pubsub/value/endpoint_id.hpp>

namespace pubsub {

/// One stream. Hold the mutex from `skip` until the messages are handed on, or those of another
/// link may overtake them.
struct stream_mark {
  std::mutex mutex;
  std::uint64_t next = 0; ///< guarded by mutex: the lowest number not yet delivered

  /// Takes `messages` messages from number `first` on. Returns how many of them come too late,
  /// since they or later ones have been delivered; the others count as delivered from now on.
  std::uint32_t skip(std::uint64_t first, std::uint32_t messages) noexcept {
    const auto late = first >= next ? 0 : std::min<std::uint64_t>(next - first, messages);
    next = std::max(next, first + messages);
    return static_cast<std::uint32_t>(late);
  }
};

/// The streams that reach one endpoint, by origin and number. At `max_streams` those that no link
/// uses are forgotten. Thread-safe.
class stream_marks {
public:
  static constexpr std::size_t max_streams = 65'536;

  std::shared_ptr<stream_mark> find(const endpoint_id& origin, std::uint32_t stream) {
    std::lock_guard lock{mutex_};
    if (marks_.size() >= max_streams)
      std::erase_if(marks_, [](const auto& each) { return each.second.use_count() == 1; });
    auto& mark = marks_[{origin, stream}];
    if (!mark)
      mark = std::make_shared<stream_mark>();
    return mark;
  }

  /// The origin has started again: its streams begin anew.
  void forget(const endpoint_id& origin) {
    std::lock_guard lock{mutex_};
    std::erase_if(marks_, [&](const auto& each) { return each.first.origin == origin; });
  }

private:
  struct key {
    endpoint_id origin;
    std::uint32_t stream;
    friend bool operator==(const key&, const key&) = default;
  };
  struct key_hash {
    std::size_t operator()(const key& x) const noexcept {
      return std::hash<endpoint_id>{}(x.origin) * 31 + x.stream;
    }
  };

  std::mutex mutex_; // guards the following
  std::unordered_map<key, std::shared_ptr<stream_mark>, key_hash> marks_;
};

} // namespace pubsub
