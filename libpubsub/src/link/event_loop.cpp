#include "link/event_loop.hpp"

#include <chrono>
#include <string>

#include <pthread.h>
#include <signal.h>

#include "base/log.hpp"

namespace pubsub {

namespace {

// How long a loop may be left alone before its thread takes it over from the waiters.
constexpr std::chrono::microseconds longest_absence{100};

/// Runs handlers; what they throw ends none of the threads.
template <class F>
std::size_t guarded(F run_handlers) noexcept {
  try {
    return run_handlers();
  } catch (const std::exception& failure) {
    log(log_level::error, std::string{"an I/O handler failed: "} + failure.what());
    return 1;
  }
}

void become_io_thread() {
  // Signals belong to the host program's own threads.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  pthread_setname_np(pthread_self(), "pubsub-io");
}

} // namespace

void event_loop::start(loop_service service) {
  thread_ = std::thread{[this, service] {
    become_io_thread();
    service == loop_service::by_thread ? serve() : stand_in();
  }};
}

void event_loop::serve() noexcept {
  while (!context_->stopped())
    guarded([&] { return context_->run(); });
}

/// Has the loop, asleep if nothing is ready, until a waiter wants it; and again once no waiter has
/// come for a while.
void event_loop::stand_in() noexcept {
  auto seen = visits_.load(std::memory_order_relaxed);
  while (!context_->stopped()) {
    if (take()) {
      while (!context_->stopped() && !wanted_.exchange(false, std::memory_order_relaxed))
        guarded([&] { return context_->run_one(); });
      give_back();
    }
    do { // not a wait for something: the clock of the absence
      seen = visits_.load(std::memory_order_relaxed);
      std::this_thread::sleep_for(longest_absence);
    } while (!context_->stopped() && seen != visits_.load(std::memory_order_relaxed));
  }
}

void event_loop::poll() noexcept {
  visits_.fetch_add(1, std::memory_order_relaxed);
  if (take()) {
    guarded([&] { return context_->poll(); });
    give_back();
    return;
  }
  if (!wanted_.exchange(true, std::memory_order_relaxed))
    guarded([&] {
      asio::post(*context_, [] {}); // wakes the thread
      return std::size_t{1};
    });
  std::this_thread::yield(); // it may need this processor to let go
}

void event_loop::stop() noexcept {
  context_->stop();
  if (thread_.joinable())
    thread_.join();
}

bool event_loop::flush() noexcept {
  while (!take())
    std::this_thread::yield();
  context_->restart();
  const auto ran = guarded([&] { return context_->poll(); });
  context_->stop();
  give_back();
  return ran > 0;
}

} // namespace pubsub
