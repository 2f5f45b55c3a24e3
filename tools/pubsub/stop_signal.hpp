// Signals as file descriptors: Ctrl-C and SIGTERM, and those that are commands.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <initializer_list>
#include <optional>
#include <thread>

#include <pubsub/endpoint.hpp>

namespace pubsub::tool {

using clock = std::chrono::steady_clock;
/// Nothing means: however long it takes.
using deadline = std::optional<clock::time_point>;

/// The moment `seconds` from now; nothing where no number is given.
deadline deadline_after(std::optional<double> seconds);
/// A timeout for the library's waits: what is left, at most an hour.
std::chrono::nanoseconds left_until(const deadline& end);

/// Signals that are blocked in this thread and in those started later, so make it before any
/// endpoint; `fd` is readable instead.
class signal_source {
public:
  explicit signal_source(std::initializer_list<int> signals);
  signal_source(const signal_source&) = delete;
  signal_source& operator=(const signal_source&) = delete;
  ~signal_source();

  int fd() const noexcept { return fd_; }

private:
  int fd_ = -1;
};

/// SIGINT and SIGTERM. From the first signal on `requested` is true and `fd` readable.
class stop_signal : public signal_source {
public:
  stop_signal();
  bool requested() const;
};

/// Signals that ask a program to do something and go on, any number of times.
class command_signal : public signal_source {
public:
  using signal_source::signal_source;
  /// One that has come since the last call; 0: none.
  int take();
};

enum class wake : unsigned char { ready, stopped, timeout };

/// Waits until `fd` is readable (-1: never), a stop is asked for, or the deadline has passed.
wake wait_readable(int fd, const stop_signal& stop, const deadline& end);
/// The same of several, at most four.
wake wait_for_one_of(std::initializer_list<int> fds, const stop_signal& stop, const deadline& end);
/// As above, whether or not a stop is asked for.
wake wait_readable(int fd, const deadline& end);

/// While it lives, a stop closes the endpoint, so that a publish that blocks comes back.
class close_on_stop {
public:
  close_on_stop(endpoint& ep, const stop_signal& stop);
  close_on_stop(const close_on_stop&) = delete;
  close_on_stop& operator=(const close_on_stop&) = delete;
  ~close_on_stop();

private:
  int done_[2] = {-1, -1};
  std::thread watcher_;
};

} // namespace pubsub::tool
