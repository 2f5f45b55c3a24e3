// One event loop, and which thread runs it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "link/asio.hpp"

namespace pubsub {

/// Who runs the handlers of a loop: its own thread alone, or, to save the time it takes to wake
/// that, also the threads that would wait for what the handlers bring.
enum class loop_service : std::uint8_t { by_thread, by_waiters };

/// Handlers never run concurrently: one thread at a time has the loop. Thread-safety: `poll` from
/// any thread, also from a handler; the rest is guarded by the caller and not for handlers.
class event_loop {
public:
  event_loop() = default;
  ~event_loop() { stop(); }
  event_loop(const event_loop&) = delete;
  event_loop& operator=(const event_loop&) = delete;

  const std::shared_ptr<asio::io_context>& context() const noexcept { return context_; }
  void start(loop_service service);
  /// With `by_waiters`: runs the handlers that are ready, unless another thread is at it, and keeps
  /// the loop's own thread out for the next moment.
  void poll() noexcept;
  /// Joins the thread; handlers run no more until `flush`.
  void stop() noexcept;
  /// After `stop`: runs what is ready. True if that was anything.
  bool flush() noexcept;

private:
  void serve() noexcept;
  void stand_in() noexcept;
  bool take() noexcept { return !taken_.exchange(true, std::memory_order_acquire); }
  void give_back() noexcept { taken_.store(false, std::memory_order_release); }

  std::shared_ptr<asio::io_context> context_ = std::make_shared<asio::io_context>(1);
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_->get_executor()};
  std::thread thread_;
  std::atomic<bool> taken_{false};       // a thread runs handlers
  std::atomic<bool> wanted_{false};      // a waiter asks the thread for the loop
  std::atomic<std::uint32_t> visits_{0}; // calls of poll
};

} // namespace pubsub
