// Event loops, and which threads run them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <pubsub/error.hpp>

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
  /// Once started: waits until what was posted before has run.
  void settle();

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

/// A fixed number of event loops, each on one thread. A link stays on the loop it was given, so its
/// handlers never run concurrently. Thread-safe, but for the end: no loop may end itself.
class loop_group {
public:
  explicit loop_group(unsigned loops) : loops_(loops) {}
  ~loop_group() { stop(); }
  loop_group(const loop_group&) = delete;
  loop_group& operator=(const loop_group&) = delete;

  /// One loop for each processor, which all who ask share as long as any of them holds it.
  static std::shared_ptr<loop_group> of_process();

  void start();
  /// The loops in turn.
  event_loop& next() noexcept {
    return loops_[turn_.fetch_add(1, std::memory_order_relaxed) % loops_.size()];
  }
  std::size_t size() const noexcept { return loops_.size(); }
  /// Waits until all that was posted before has run, and what that has posted.
  void settle();
  /// Joins the threads, and runs the handlers of what has been cancelled, so that nothing keeps
  /// itself alive.
  void stop() noexcept;

private:
  std::vector<event_loop> loops_;
  std::atomic<std::size_t> turn_{0};
  std::once_flag started_;
};

/// The loops of one endpoint: its own, or those of the process.
class io_threads {
public:
  /// 0: those of the process.
  explicit io_threads(unsigned loops)
      : is_shared_(loops == 0),
        group_(is_shared_ ? loop_group::of_process() : std::make_shared<loop_group>(loops)) {}

  /// On first use. Error: limit_exceeded, where the process may have no more threads.
  expected<void> start();
  /// Not after `end`.
  const std::shared_ptr<asio::io_context>& next() noexcept { return group_->next().context(); }
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
  /// What a consumer may run while it waits; null where there are several loops, or others use it.
  shared_loop* only_loop() noexcept {
    return !is_shared_ && group_->size() == 1 ? &group_->next() : nullptr;
  }
  /// The endpoint has closed all that uses the loops: returns when none of its handlers runs any
  /// more. Not from a loop.
  void end() noexcept;

private:
  const bool is_shared_;
  bool started_ = false;
  std::shared_ptr<loop_group> group_; // null when a shared one is not needed any more
};

} // namespace pubsub
