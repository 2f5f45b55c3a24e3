// Work that Broker's endpoint does in the background: `subscribe` and `publish_all`.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include <pubsub/compat/broker/error.hpp>
#include <pubsub/compat/broker/fwd.hpp>

namespace broker {
inline namespace over_pubsub {

namespace detail {

/// One thread that runs until its work is done, or it is asked to stop.
class background {
public:
  /// `request_stop` makes the work return soon; it is called from other threads.
  background(std::function<void()> work, std::function<void()> request_stop)
      : request_stop_(std::move(request_stop)), done_(std::make_shared<std::atomic<bool>>(false)),
        thread_([this, done = done_, work = std::move(work)] {
          current() = this;
          work();
          *done = true;
        }) {}
  background(const background&) = delete;
  background& operator=(const background&) = delete;
  ~background() {
    stop();
    if (thread_.joinable()) // the thread itself has given up the last handle
      thread_.detach();
  }

  bool done() const noexcept { return *done_; }
  void stop() {
    request_stop_();
    wait();
  }
  /// Waits until the work is done; not where the caller is the work itself.
  void wait() {
    if (current() == this)
      return;
    const std::lock_guard lock{mutex_};
    if (thread_.joinable())
      thread_.join();
  }

private:
  /// Whose work this thread does.
  static const background*& current() noexcept {
    static thread_local const background* mine = nullptr;
    return mine;
  }

  std::function<void()> request_stop_;
  std::shared_ptr<std::atomic<bool>> done_;
  std::mutex mutex_;
  std::thread thread_; // the last member: the work may use all others
};

/// The state that callbacks share: the type that `init` takes a reference to; nothing if it takes
/// none.
struct no_state {};
template <class F>
struct state_of : state_of<decltype(&F::operator())> {};
template <class R, class C>
struct state_of<R (C::*)()> : std::type_identity<no_state> {};
template <class R, class C>
struct state_of<R (C::*)() const> : std::type_identity<no_state> {};
template <class R, class C, class State>
struct state_of<R (C::*)(State&)> : std::type_identity<State> {};
template <class R, class C, class State>
struct state_of<R (C::*)(State&) const> : std::type_identity<State> {};
template <class R>
struct state_of<R (*)()> : std::type_identity<no_state> {};
template <class R, class State>
struct state_of<R (*)(State&)> : std::type_identity<State> {};
template <class F>
using state_for = typename state_of<std::decay_t<F>>::type;

/// Calls `f` with the state, if it takes one.
template <class F, class State, class... Args>
decltype(auto) call(F& f, State& state, Args&&... args) {
  if constexpr (std::same_as<std::remove_const_t<State>, no_state>)
    return f(std::forward<Args>(args)...);
  else
    return f(state, std::forward<Args>(args)...);
}

/// What an exception that a callback throws says of itself.
inline error error_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& what) {
    return {ec::unspecified, what.what()};
  } catch (...) {
    return {ec::unspecified, "an exception of unknown type"};
  }
}

/// Runs `loop`, then `cleanup` with the error if the loop threw. Nothing leaves it.
template <class Loop, class Cleanup>
void run_guarded(Loop&& loop, Cleanup&& cleanup) {
  error reason;
  try {
    loop();
  } catch (...) {
    reason = error_of(std::current_exception());
  }
  try {
    cleanup(reason);
  } catch (...) {
    // There is no caller left to tell.
  }
}

} // namespace detail

/// A handle on background work; see `endpoint::subscribe`.
class worker {
public:
  worker() = default;
  bool valid() const noexcept { return task_ != nullptr; }
  explicit operator bool() const noexcept { return valid(); }
  friend bool operator==(const worker&, const worker&) = default;

private:
  friend class endpoint;
  explicit worker(std::shared_ptr<detail::background> task) : task_(std::move(task)) {}

  std::shared_ptr<detail::background> task_;
};

} // namespace over_pubsub
} // namespace broker
