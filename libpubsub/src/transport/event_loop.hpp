// Event loops, and which threads run them.
#pragma once

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

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

/// A fixed number of event loops, each on one thread, started on first use. A link stays on the
/// loop it was given, so its handlers never run concurrently. Thread-safety: guarded
/// by the caller; `stop` and `flush` must not be called from a loop.
class io_threads {
public:
  explicit io_threads(unsigned loops) : loops_(std::max(loops, 1U)) {}

  void start() {
    if (!std::exchange(started_, true))
      std::ranges::for_each(loops_, &event_loop::start);
  }
  const std::shared_ptr<asio::io_context>& next() noexcept {
    turn_ = (turn_ + 1) % loops_.size();
    return loops_[turn_].context();
  }
  /// Calls `job` on that loop after `delay`, unless the loop has ended. From any thread.
  template <class Job>
  static void call_later(const std::shared_ptr<asio::io_context>& loop,
                         std::chrono::nanoseconds delay, Job job) {
    const auto timer = std::make_shared<asio::steady_timer>(*loop, delay);
    timer->async_wait([timer, job = std::move(job)](error_code cancelled) {
      if (!cancelled)
        job();
    });
  }
  /// What a consumer may run while it waits; null where there are several loops.
  shared_loop* only_loop() noexcept { return loops_.size() == 1 ? loops_.data() : nullptr; }
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
