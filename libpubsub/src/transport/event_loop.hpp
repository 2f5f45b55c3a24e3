// One event loop, and which thread runs it.
#pragma once

#include <memory>
#include <thread>

#include "queue/shared_loop.hpp"
#include "transport/asio.hpp"
#include "transport/loop_turns.hpp"

namespace pubsub {

/// Its own thread runs the handlers, or, to save the time it takes to wake that, a thread that
/// would wait for what they bring: one at a time, so handlers never run concurrently.
/// Thread-safety: `poll` and what `shared_loop` has, from any thread, but `interrupt` alone from a
/// handler; the rest is guarded by the caller and not for handlers.
class event_loop final : public shared_loop {
public:
  event_loop() = default;
  ~event_loop() { stop(); }
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;

  const std::shared_ptr<asio::io_context>& context() const noexcept { return context_; }
  void start();
  /// Runs the handlers that are ready, unless another thread is at it, and keeps the loop's own
  /// thread out for the next moment.
  void poll() noexcept;
  /// Joins the thread; handlers run no more until `flush`.
  void stop() noexcept;
  /// After `stop`: runs what is ready. True if that was anything.
  bool flush() noexcept;

  // -- shared_loop -----------------------------------------------------------------------------

  answer enter() noexcept override;
  void run_ready() noexcept override;
  bool run_one() noexcept override;
  bool run_one(std::chrono::steady_clock::time_point until) noexcept override;
  void leave() noexcept override { turns_.leave(); }
  void interrupt() noexcept override;
  bool begin_blocking(bool keen) noexcept override { return turns_.begin_blocking(keen); }
  void end_blocking(bool keen) noexcept override { turns_.end_blocking(keen); }
  void offer() noexcept override { turns_.offer(); }

private:
  void serve() noexcept;
  bool stand_by() noexcept;

  std::shared_ptr<asio::io_context> context_ = std::make_shared<asio::io_context>(1);
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_->get_executor()};
  loop_turns turns_;
  std::thread thread_;
};

} // namespace pubsub
