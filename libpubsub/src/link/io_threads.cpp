#include "link/io_threads.hpp"

#include <algorithm>
#include <string>

#include <pthread.h>
#include <signal.h>

#include "base/log.hpp"

namespace pubsub {

namespace {

void run(asio::io_context& context) {
  // Signals belong to the host program's own threads.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  pthread_setname_np(pthread_self(), "pubsub-io");
  while (!context.stopped()) {
    try {
      context.run();
    } catch (const std::exception& failure) {
      log(log_level::error, std::string{"an I/O handler failed: "} + failure.what());
    }
  }
}

} // namespace

io_threads::io_threads(unsigned count) {
  for (unsigned i = 0; i < std::max(count, 1U); ++i)
    loops_.push_back(std::make_unique<loop>());
}

void io_threads::start() {
  if (std::exchange(started_, true))
    return;
  for (auto& each : loops_)
    each->thread = std::thread{[context = each->context] { run(*context); }};
}

const std::shared_ptr<asio::io_context>& io_threads::next() noexcept {
  turn_ = (turn_ + 1) % loops_.size();
  return loops_[turn_]->context;
}

void io_threads::stop() noexcept {
  for (auto& each : loops_)
    each->context->stop();
  for (auto& each : loops_)
    if (each->thread.joinable())
      each->thread.join();
}

void io_threads::flush() noexcept {
  for (auto& each : loops_)
    each->work.reset();
  for (bool more = true; more;) { // a handler may post to a loop that has been dealt with
    more = false;
    for (auto& each : loops_) {
      each->context->restart();
      try {
        more = each->context->poll() > 0 || more;
      } catch (const std::exception& failure) {
        more = true;
        log(log_level::error, std::string{"an I/O handler failed: "} + failure.what());
      }
    }
  }
}

bool io_threads::running_in_this_thread() const noexcept {
  return std::ranges::any_of(
      loops_, [](const auto& each) { return each->thread.get_id() == std::this_thread::get_id(); });
}

} // namespace pubsub
