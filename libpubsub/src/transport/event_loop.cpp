// SPDX-License-Identifier: BSD-3-Clause
#include "transport/event_loop.hpp"

#include <algorithm>
#include <future>
#include <string>
#include <system_error>

#include <pthread.h>
#include <signal.h>

#include "base/log.hpp"

namespace pubsub {

namespace {

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

} // namespace

void event_loop::start() {
  if (thread_.joinable())
    return; // there was no thread for one of the others, and this is another try
  thread_ = std::thread{[this] {
    sigset_t all; // signals belong to the host program's own threads
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    pthread_setname_np(pthread_self(), "pubsub-io");
    serve();
  }};
}

void event_loop::serve() noexcept {
  ownership_.begin();
  bool mine = true;
  while (mine && !context_->stopped()) {
    guarded([&] { return context_->run_one(); });
    if (ownership_.asked())
      mine = stand_by();
  }
  if (mine)
    ownership_.give_back();
}

/// Returns with the loop, but false and without it once stopped.
bool event_loop::stand_by() noexcept {
  const auto why = ownership_.stand_by();
  if (why == loop_ownership::reason::absence && guarded([&] { return context_->poll(); }) > 0)
    ownership_.close_to_consumers();
  return why != loop_ownership::reason::stopped;
}

// -- shared_loop -------------------------------------------------------------------------------

void event_loop::run_ready() noexcept {
  guarded([&] { return context_->poll(); });
}

bool event_loop::run_one(const std::optional<clock::time_point>& until) noexcept {
  return guarded([&] { return until ? context_->run_one_until(*until) : context_->run_one(); }) > 0;
}

void event_loop::interrupt() noexcept {
  if (context_->get_executor().running_in_this_thread())
    return;
  guarded([&] {
    asio::post(*context_, [] {});
    return std::size_t{1};
  });
}

// -- the end -----------------------------------------------------------------------------------

void event_loop::stop() noexcept {
  context_->stop();
  ownership_.stop();
  if (thread_.joinable())
    thread_.join();
}

bool event_loop::flush() noexcept {
  while (!ownership_.take())
    std::this_thread::yield();
  context_->restart();
  const auto ran = guarded([&] { return context_->poll(); });
  context_->stop();
  ownership_.give_back();
  return ran > 0;
}

void event_loop::settle() {
  const auto run = std::make_shared<std::promise<void>>();
  asio::post(*context_, [run] { run->set_value(); });
  run->get_future().wait();
}

// -- loops together ----------------------------------------------------------------------------

std::shared_ptr<loop_group> loop_group::of_process() {
  static std::mutex mutex;
  static std::weak_ptr<loop_group> current;
  const std::lock_guard lock{mutex};
  auto result = current.lock();
  if (!result) {
    result = std::make_shared<loop_group>(std::max(std::thread::hardware_concurrency(), 1U));
    current = result;
  }
  return result;
}

void loop_group::start() {
  std::call_once(started_, [this] { std::ranges::for_each(loops_, &event_loop::start); });
}

void loop_group::settle() {
  for (int rounds = 2; rounds > 0; --rounds)
    std::ranges::for_each(loops_, &event_loop::settle);
}

void loop_group::stop() noexcept {
  std::ranges::for_each(loops_, &event_loop::stop);
  while (std::ranges::count_if(loops_, &event_loop::flush) > 0) {
  } // a handler may post to a loop that has been dealt with
}

expected<void> io_threads::start() {
  try {
    group_->start();
  } catch (const std::system_error& failed) {
    return error{errc::limit_exceeded, std::string{"no thread for connections: "} + failed.what() +
                                           "; endpoints with io_threads = 0 share them"};
  }
  started_ = true;
  return {};
}

void io_threads::end() noexcept {
  if (!is_shared_)
    return group_->stop();
  if (started_)
    group_->settle();
  group_ = nullptr;
}

} // namespace pubsub
