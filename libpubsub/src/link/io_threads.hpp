// The threads that serve links.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "link/asio.hpp"

namespace pubsub {

/// A fixed number of event loops, each on one thread, started on first use. A link stays on the
/// loop it was given, so its handlers never run concurrently. Thread-safety: `next` and `start` are
/// guarded by the caller; `stop` and `flush` must not be called from a loop.
class io_threads {
public:
  explicit io_threads(unsigned count);
  ~io_threads() { stop(); }

  /// Starts the threads unless they run.
  void start();
  /// The loops in turn.
  const std::shared_ptr<asio::io_context>& next() noexcept;
  /// Joins the threads; handlers run no more until `flush`.
  void stop() noexcept;
  /// After `stop`: runs the handlers of what has been cancelled, so that nothing keeps itself
  /// alive.
  void flush() noexcept;
  /// True on one of the threads.
  bool running_in_this_thread() const noexcept;

private:
  struct loop {
    std::shared_ptr<asio::io_context> context = std::make_shared<asio::io_context>(1);
    asio::executor_work_guard<asio::io_context::executor_type> work{context->get_executor()};
    std::thread thread;
  };

  std::vector<std::unique_ptr<loop>> loops_;
  std::size_t turn_ = 0;
  bool started_ = false;
};

} // namespace pubsub
