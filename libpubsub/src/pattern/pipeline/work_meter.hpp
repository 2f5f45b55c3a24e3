// How long tasks take. Pure but for the clocks.
#pragma once

#include <chrono>
#include <cstdint>

#include <pthread.h>
#include <sys/resource.h>
#include <time.h>

namespace pubsub::pattern {

/// Measures work between `start` and `stop`. A thread that has not waited for anything since then
/// has worked for as long as it had a processor: so it does not look slow where others want one,
/// too. Else, or where several threads work, the time counts that has passed. Thread-safety: none.
class work_meter {
public:
  bool running() const noexcept { return running_; }
  void start() noexcept {
    since_ = reading::here();
    running_ = true;
  }
  /// So many tasks have been done since the last lap; returns how long that was.
  std::chrono::nanoseconds lap(std::uint64_t tasks) noexcept {
    const auto now = reading::here();
    const bool computed = pthread_equal(now.thread, since_.thread) && now.waits == since_.waits;
    const auto lap = computed ? now.processor - since_.processor : now.clock - since_.clock;
    busy_ += lap;
    tasks_ += tasks;
    since_ = now;
    return lap;
  }
  void stop(std::uint64_t tasks) noexcept {
    lap(tasks);
    running_ = false;
  }

  std::chrono::nanoseconds busy() const noexcept { return busy_; }
  /// Done in that time.
  std::uint64_t tasks() const noexcept { return tasks_; }

private:
  struct reading {
    pthread_t thread{};
    std::chrono::nanoseconds clock{0};
    std::chrono::nanoseconds processor{0};
    long waits = 0; ///< voluntary switches

    static reading here() noexcept {
      timespec used{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
      rusage usage{};
      getrusage(RUSAGE_THREAD, &usage);
      return {pthread_self(), std::chrono::steady_clock::now().time_since_epoch(),
              std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec},
              usage.ru_nvcsw};
    }
  };

  reading since_;
  std::chrono::nanoseconds busy_{0};
  std::uint64_t tasks_ = 0;
  bool running_ = false;
};

} // namespace pubsub::pattern
