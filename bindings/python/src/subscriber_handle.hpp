// What a Python Subscriber holds: a C++ subscriber, and the messages an iteration has taken ahead.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <pubsub/endpoint.hpp>
#include <pubsub/readiness.hpp>
#include <pubsub/subscriber.hpp>

#include "waiting.hpp"

namespace pubsub::python {

/// Whether a subscription is known everywhere, for an event loop. Members are called with the GIL
/// held.
class readiness_handle {
public:
  explicit readiness_handle(readiness what) : readiness_(std::move(what)) {}
  ~readiness_handle() {
    if (fork_.crossed())
      new std::optional<readiness>(std::move(readiness_)); // the parent's
  }
  readiness_handle(const readiness_handle&) = delete;
  readiness_handle& operator=(const readiness_handle&) = delete;

  int fd() const {
    fork_.check();
    return readiness_->fd();
  }
  bool ready() const {
    fork_.check();
    return readiness_->ready();
  }

private:
  fork_guard fork_;
  std::optional<readiness> readiness_;
};

/// Members are called with the GIL held. Any number of threads may consume; they take turns.
/// Waiting happens without the GIL, and Ctrl-C ends it. Iteration takes a batch with each wait and
/// hands it out one by one; what it has not handed out yet counts as queued and is what the other
/// calls return first.
class subscriber_handle {
public:
  subscriber_handle(std::shared_ptr<pubsub::endpoint> owner, filter topics,
                    const queue_options& options, const std::optional<condition>& where);
  ~subscriber_handle();
  subscriber_handle(const subscriber_handle&) = delete;
  subscriber_handle& operator=(const subscriber_handle&) = delete;

  /// The next message, waiting for it; null without an exception at the end.
  PyObject* next();
  /// The next message; None where there is none yet; null without an exception at the end.
  PyObject* next_nowait();
  /// The next message, None on time-out. Raises Closed at the end.
  PyObject* get(std::optional<double> timeout);
  /// At least one message, at most `max`; empty on time-out. Raises Closed at the end.
  PyObject* get_batch(std::size_t max, std::optional<double> timeout);
  /// Everything that is there.
  PyObject* poll();

  int fd() const;
  std::size_t available() const;
  void add_topic(const std::string& prefix);
  void remove_topic(const std::string& prefix);
  std::vector<std::string> topics() const;
  bool wait_ready(std::optional<double> timeout);
  std::unique_ptr<readiness_handle> begin_ready();
  subscriber_counters counters() const;
  bool closed() const;
  void close();

private:
  enum class outcome { message, timed_out, ended };

  PyObject* take_pending();
  std::size_t pending() const noexcept { return pending_.size() - position_; }
  void add_pending();
  bool prefetch(std::size_t max);
  bool pull(std::size_t max, std::chrono::nanoseconds left);
  outcome wait_for_message(const deadline& until, std::size_t max);
  bool ended() const;

  fork_guard fork_;
  std::shared_ptr<pubsub::endpoint> owner_;
  mutable std::optional<subscriber> subscriber_;

  // Makes one thread the consumer and guards fresh_. Waited for only without the GIL, and never
  // held while Python code runs: a signal handler may call any member.
  std::timed_mutex consuming_;
  std::vector<data_message> fresh_;

  // Guarded by the GIL.
  std::vector<data_message> pending_; // taken ahead; handed out up to position_
  std::size_t position_ = 0;
  std::uint64_t discarded_ = 0; // taken ahead, then dropped by close
};

} // namespace pubsub::python
