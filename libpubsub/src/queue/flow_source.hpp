// Pausing what fills a queue from an I/O thread while the queue is full.
#pragma once

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

/// The sources that a queue has paused. Not thread-safe: guarded by the queue's mutex.
class paused_sources {
public:
  void add(std::weak_ptr<flow_source> source) { sources_.push_back(std::move(source)); }
  bool empty() const noexcept { return sources_.empty(); }
  /// Takes all of them out; call `resume_all` on the result after unlocking.
  std::vector<std::weak_ptr<flow_source>> take() noexcept { return std::exchange(sources_, {}); }

private:
  std::vector<std::weak_ptr<flow_source>> sources_;
};

inline void resume_all(const std::vector<std::weak_ptr<flow_source>>& sources) noexcept {
  for (const auto& weak : sources)
    if (auto source = weak.lock())
      source->resume();
}

} // namespace pubsub
