// The threads that serve links.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "transport/event_loop.hpp"

namespace pubsub {

/// A fixed number of event loops, each on one thread, started on first use. A link stays on the
/// loop it was given, so its handlers never run concurrently. Thread-safety: guarded
/// by the caller; `stop` and `flush` must not be called from a loop.
class io_threads {
public:
  explicit io_threads(unsigned loops) : loops_(std::max(loops, 1U)) {}

  /// Starts the threads unless they run.
  void start() {
    if (!std::exchange(started_, true))
      std::ranges::for_each(loops_, &event_loop::start);
  }
  /// The loops in turn.
  const std::shared_ptr<asio::io_context>& next() noexcept {
    turn_ = (turn_ + 1) % loops_.size();
    return loops_[turn_].context();
  }
  /// What a consumer may run while it waits; null where there are several loops.
  shared_loop* only_loop() noexcept { return loops_.size() == 1 ? loops_.data() : nullptr; }
  /// Joins the threads; handlers run no more until `flush`.
  void stop() noexcept { std::ranges::for_each(loops_, &event_loop::stop); }
  /// After `stop`: runs the handlers of what has been cancelled, so that nothing keeps itself
  /// alive.
  void flush() noexcept {
    while (std::ranges::count_if(loops_, &event_loop::flush) > 0) {
    } // a handler may post to a loop that has been dealt with
  }

private:
  std::vector<event_loop> loops_;
  std::size_t turn_ = 0;
  bool started_ = false;
};

} // namespace pubsub
