// Waiting without the GIL: interruptible by Ctrl-C, harmless at interpreter exit, aware of fork.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include <pybind11/pybind11.h>

#include "python_types.hpp"

namespace pubsub::python {

/// Gives up the GIL for a scope. A thread that comes back while the interpreter is going away
/// sleeps for ever instead of being unwound through C++ frames; its process is about to end.
class gil_free {
public:
  gil_free();
  ~gil_free();
  gil_free(const gil_free&) = delete;
  gil_free& operator=(const gil_free&) = delete;

private:
  PyThreadState* state_;
};

/// Whether the interpreter goes away: no thread but the one that does it gets the GIL again.
bool finalizing() noexcept;

/// Takes the GIL for a scope, in any thread, whether it has it or not. A thread that wants it while
/// the interpreter goes away sleeps for ever, as with `gil_free`.
class gil_taken {
public:
  gil_taken();
  ~gil_taken();
  gil_taken(const gil_taken&) = delete;
  gil_taken& operator=(const gil_taken&) = delete;

private:
  bool taken_;
  PyGILState_STATE state_{};
};

/// Makes Python remember this thread, which it has not made, until the thread ends: calls are
/// cheaper then, and what is local to the thread lives on. Call with the GIL held.
void keep_thread_state();

/// Calls `function(*arguments)` with the GIL held; a new reference, or null with an exception set.
/// Where the interpreter goes away meanwhile, the thread sleeps for ever.
PyObject* call_or_park(PyObject* function, std::initializer_list<PyObject*> arguments);

/// Until when a call may wait, from a Python time-out in seconds; none means for ever.
class deadline {
public:
  using clock = std::chrono::steady_clock;

  /// Negative values count as 0. Raises InvalidArgument for NaN.
  explicit deadline(std::optional<double> seconds);
  bool passed() const { return end_ != never && clock::now() >= end_; }
  /// What is left, at most `limit`, at least 0.
  std::chrono::nanoseconds slice(std::chrono::nanoseconds limit) const;

private:
  static constexpr auto never = clock::time_point::max();
  clock::time_point end_ = never;
};

/// A Python time-out as a duration for calls that wait themselves; none gives an hour.
std::chrono::milliseconds to_milliseconds(std::optional<double> seconds);

/// How long a wait may last before Python gets to handle signals; only its main thread does.
std::chrono::nanoseconds longest_wait() noexcept;
/// Tells `longest_wait` which thread that is; call from module init.
void find_main_thread();

/// Lets Python handle signals; throws if a handler raised (KeyboardInterrupt).
inline void handle_signals() {
  if (PyErr_CheckSignals() != 0)
    throw py::error_already_set();
}

/// Calls `attempt(time left)` without the GIL, again and again, until it returns true or the time
/// is up. Call with the GIL held. Returns whether an attempt succeeded.
template <class Attempt>
bool wait_for(const deadline& until, Attempt&& attempt) {
  for (;;) {
    bool done;
    {
      gil_free nogil;
      done = attempt(until.slice(longest_wait()));
    }
    if (done)
      return true;
    handle_signals();
    if (until.passed())
      return false;
  }
}

/// Takes `mutex` before `until`, waiting without the GIL where another thread holds it. A mutex
/// that is held across a wait must only ever be taken this way: whoever holds it may be waiting for
/// the GIL.
template <class Mutex>
std::unique_lock<Mutex> lock_before(Mutex& mutex, const deadline& until) {
  std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock)
    wait_for(until, [&](auto left) { return lock.try_lock_for(left); });
  return lock;
}

/// A flag that threads of Python set for others that wait for it. Ctrl-C ends the wait whenever it
/// comes, and leaves no lock behind. Any thread; setting and clearing never wait.
class event {
public:
  void set();
  void clear();
  bool is_set() const;
  /// Waits until it is set, at most `timeout` seconds; returns whether it is. Raises what a signal
  /// handler raises. Call with the GIL held.
  bool wait(std::optional<double> timeout) const;

private:
  mutable std::mutex mutex_; // never held while the GIL is waited for
  mutable std::condition_variable changed_;
  bool set_ = false;
};

/// Runs `work` on a thread of its own while this one waits without the GIL, so that Ctrl-C
/// interrupts calls that cannot be cut into slices. Interrupted, or at the deadline, the work goes
/// on unobserved. Returns whether it has ended. Where the process may have no more threads, this
/// one does the work.
bool run_interruptibly(std::function<void()> work, const deadline& until = deadline{std::nullopt});
/// Runs `work` on a thread of its own.
void run_in_background(std::function<void()> work);
/// Waits until all work of the two above has ended, at most `limit`.
void join_background_work(std::chrono::milliseconds limit);

/// Tells objects made before a fork from those made after it.
class fork_guard {
public:
  /// Registers the fork handler; call once.
  static void install();
  /// True in a process other than the one this object was made in.
  bool crossed() const noexcept;
  /// Raises ForkError if `crossed`.
  void check() const;

private:
  unsigned born_ = generation();
  static unsigned generation() noexcept;
};

} // namespace pubsub::python
