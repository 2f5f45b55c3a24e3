// The threads that serve links.
#pragma once

#include <memory>
#include <vector>

#include "transport/event_loop.hpp"

namespace pubsub {

/// A fixed number of event loops, each on one thread, started on first use. A link stays on the
/// loop it was given, so its handlers never run concurrently. Thread-safety: guarded
/// by the caller; `stop` and `flush` must not be called from a loop.
class io_threads {
public:
  explicit io_threads(unsigned loops);
  ~io_threads() { stop(); }

  /// Starts the threads unless they run.
  void start();
  /// The loops in turn.
  const std::shared_ptr<asio::io_context>& next() noexcept;
  /// What a consumer may run while it waits; null where there are several loops.
  shared_loop* only_loop() noexcept { return loops_.size() == 1 ? loops_.front().get() : nullptr; }
  /// Joins the threads; handlers run no more until `flush`.
  void stop() noexcept;
  /// After `stop`: runs the handlers of what has been cancelled, so that nothing keeps itself
  /// alive.
  void flush() noexcept;

private:
  std::vector<std::unique_ptr<event_loop>> loops_;
  std::size_t turn_ = 0;
  bool started_ = false;
};

} // namespace pubsub
