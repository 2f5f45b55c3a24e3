// What Python's Exchange, TaskQueue and Task hold.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <pubsub/pattern/pipeline.hpp>

#include "resident.hpp"

namespace pubsub::python {

/// A task that Python has. Members are called with the GIL held.
class task_handle {
public:
  explicit task_handle(pubsub::task what) : task_(std::move(what)) {}
  ~task_handle();

  PyObject* value();
  std::string source() const { return to_string(get().source()); }
  std::uint64_t number() const { return get().number(); }
  bool redelivered() const { return get().redelivered(); }
  void done();
  void reject();
  /// For `exchange_handle::send_result`, which settles it. Raises InvalidArgument if it is settled.
  pubsub::task release();

private:
  const pubsub::task& get() const;

  fork_guard fork_;
  std::optional<pubsub::task> task_; // empty: its result was sent
};

/// Members are called with the GIL held; waiting happens without it, and Ctrl-C ends it.
class exchange_handle : public resident<exchange> {
public:
  using resident::resident;

  void bind(const std::string& queue);
  bool send(PyObject* value, std::optional<double> timeout);
  void send_result(PyObject* value, task_handle& of);
  void send_pending();
  std::size_t drain(std::optional<double> timeout);
  bool wait_for_queues(std::size_t n, std::optional<double> timeout);
  std::size_t queues() const { return it().queues(); }
  std::string id() const { return to_string(it().id()); }
  exchange_counters counters() const { return it().counters(); }
  std::size_t in_flight() const { return it().in_flight(); }
  void close();
  bool closed() const { return it().closed(); }

private:
  void check() const;
};

class task_queue_handle : public resident<task_queue> {
public:
  using resident::resident;

  void bind(const std::string& exchange);
  /// Null at the deadline. Raises Closed once closed.
  std::unique_ptr<task_handle> get(std::optional<double> timeout);
  bool wait_for_exchanges(std::size_t n, std::optional<double> timeout);
  std::size_t exchanges() const { return it().exchanges(); }
  std::size_t available() const { return it().available(); }
  void close();
  bool closed() const { return it().closed(); }
};

} // namespace pubsub::python
