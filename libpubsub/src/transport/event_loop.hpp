// One event loop, and which thread runs it.
#pragma once

#include <memory>
#include <thread>

#include "queue/shared_loop.hpp"
#include "transport/asio.hpp"
#include "transport/loop_ownership.hpp"

namespace pubsub {

/// Its own thread runs the handlers, or a consumer that waits for what they bring: one thread at a
/// time, so handlers never run concurrently. Its own thread blocks all
/// signals, which are for the host program's threads; a consumer keeps its own signal mask.
/// Thread-safety: what `shared_loop` has, from any thread, but `interrupt` alone from a handler;
/// the rest is guarded by the caller and not for handlers.
class event_loop final : public shared_loop {
public:
  using clock = std::chrono::steady_clock;

  event_loop() = default;
  ~event_loop() { stop(); }
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;

  const std::shared_ptr<asio::io_context>& context() const noexcept { return context_; }
  void start();
  /// Joins the thread; handlers run no more until `flush`.
  void stop() noexcept;
  /// After `stop`: runs what is ready. True if that was anything.
  bool flush() noexcept;

  // -- shared_loop -----------------------------------------------------------------------------

  bool enter() noexcept override { return ownership_.enter(); }
  bool run_one(const std::optional<clock::time_point>& until) noexcept override;
  void run_ready() noexcept override;
  void leave() noexcept override { ownership_.leave(); }
  void interrupt() noexcept override;
  bool begin_sleep(bool wants_loop) noexcept override { return ownership_.begin_sleep(wants_loop); }
  void end_sleep() noexcept override { ownership_.end_sleep(); }

private:
  void serve() noexcept;
  bool stand_by() noexcept;

  std::shared_ptr<asio::io_context> context_ = std::make_shared<asio::io_context>(1);
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_->get_executor()};
  loop_ownership ownership_;
  std::thread thread_;
};

} // namespace pubsub
