// Pausing what fills a queue from an I/O thread while the queue is full.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace pubsub {

/// Something that cannot wait in place, such as a link: when a queue is full, the queue pauses it,
/// and it stops reading, until the queue calls `resume`, once for every time it said so.
class flow_source {
public:
  virtual ~flow_source() = default;
  /// Called by the consumer's thread with no lock held; must not block.
  virtual void resume() noexcept = 0;
};

/// The sources that a queue has paused, each with the number of messages that have entered so far.
/// Not thread-safe: guarded by the queue's mutex.
class paused_sources {
public:
  struct paused {
    std::weak_ptr<flow_source> source;
    std::uint64_t behind;
  };

  void add(std::weak_ptr<flow_source> source, std::uint64_t entered) {
    sources_.push_back({std::move(source), entered});
  }
  bool empty() const noexcept { return sources_.empty(); }
  /// Takes all of them out; call `resume_all` on the result after unlocking.
  std::vector<paused> take() noexcept { return std::exchange(sources_, {}); }
  /// The same for those behind no more than `left` messages, which have left.
  std::vector<paused> take_behind(std::uint64_t left) {
    const auto end = std::ranges::find_if(sources_, [&](const auto& x) { return x.behind > left; });
    std::vector<paused> result(std::move_iterator{sources_.begin()}, std::move_iterator{end});
    sources_.erase(sources_.begin(), end);
    return result;
  }

private:
  std::vector<paused> sources_; // in the order in which they came; most queues never have any
};

inline void resume_all(const std::vector<paused_sources::paused>& sources) noexcept {
  for (const auto& each : sources)
    if (auto source = each.source.lock())
      source->resume();
}

} // namespace pubsub
