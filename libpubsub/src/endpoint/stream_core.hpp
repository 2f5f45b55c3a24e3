// The shared state of a running flow.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include <pubsub/stream.hpp>

namespace pubsub {

/// One flow, one task. Thread-safe.
class stream_core : public std::enable_shared_from_this<stream_core> {
public:
  ~stream_core();

  /// Runs `body` through `runner`, or on a thread of its own. `on_stop` makes a waiting body
  /// return.
  void start(std::function<void(stream_core&)> body, std::function<void()> on_stop,
             const task_runner& runner);
  void stop() noexcept;
  /// Rethrows what the body has thrown, once.
  void wait();
  bool running() const noexcept { return !done_.load(std::memory_order_acquire); }
  bool stopping() const noexcept { return stopping_.load(std::memory_order_acquire); }
  void count_message() noexcept { messages_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t messages() const noexcept { return messages_.load(std::memory_order_relaxed); }

private:
  void run(const std::function<void(stream_core&)>& body);

  std::function<void()> on_stop_;
  std::thread thread_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> messages_{0};
  std::atomic<bool> done_{false};
  std::mutex mutex_; // guards failure_ and the change of done_
  std::condition_variable ended_;
  std::exception_ptr failure_;
};

} // namespace pubsub
