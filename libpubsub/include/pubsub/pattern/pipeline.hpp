// Load-balanced pipelines: tasks go from exchanges to queues, and are acknowledged.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <pubsub/data_view.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>
#include <pubsub/pattern/pipeline_options.hpp>
#include <pubsub/publishable.hpp>
#include <pubsub/received.hpp>
#include <pubsub/value/endpoint_id.hpp>

namespace pubsub {

namespace pattern {
class exchange_core;
class task_queue_core;
struct ready_task;
struct task_origin;
struct task_range;
} // namespace pattern

/// A piece of work that a queue has given out. Acknowledge it with `done`, or hand it to
/// `exchange::send` with its result; a task that is destroyed without either is rejected: another
/// queue gets it. Movable. Not for concurrent use. Keeps its queue, which may be closed meanwhile.
class PUBSUB_EXPORT task {
public:
  task(task&& other) noexcept;
  task& operator=(task&& other) noexcept;
  ~task();

  /// What is to be done. Valid as long as the task is.
  const data_view& value() const noexcept { return value_; }
  /// The exchange by which the task entered the pipeline, and the number that it got there: 0, 1
  /// ...
  const endpoint_id& source() const noexcept;
  /// The number that the exchange gave it.
  std::uint64_t number() const noexcept { return number_; }
  /// Another queue has had it, and may have done it.
  bool redelivered() const noexcept;

  /// Says that it is done. Never blocks. Acknowledged at once, or together with others
  /// (`task_queue_options::batch_tasks`). Nothing happens the second time, or after `reject`.
  void done();
  /// Says that all are done; cheaper than one by one.
  static void done(std::vector<task> all);
  /// Says that it cannot be done here: another queue gets it, or the dead letters if that happens
  /// too often (`exchange_options::max_losses`). Never blocks.
  void reject();

private:
  friend class task_queue;
  friend class exchange;
  explicit task(pattern::ready_task&& what);
  pattern::task_range range() const;

  std::shared_ptr<const pattern::task_origin> from_; // null: moved from
  std::uint64_t place_ = 0;
  std::uint64_t number_ = 0;
  data_view value_;
  bool settled_ = false;
};

/// A named output. What is sent goes to the queues that are bound to it, wherever they are, in any
/// order of starting; until there is a queue it waits. Every task that is sent is done, dead or
/// dropped in the end (`exchange_counters`). Thread-safe. Shares the core of the endpoint, which
/// may be moved or destroyed.
class PUBSUB_EXPORT exchange {
public:
  /// Does not block, and does not wait for queues. A name belongs to one exchange: of two the
  /// younger one closes later, see `failure`. Any number have the empty name; those bind queues.
  /// Errors: invalid_argument, an option is out of range; shutting_down, the endpoint is closed.
  [[nodiscard]] static expected<exchange> open(const endpoint& at, std::string_view name,
                                               const exchange_options& options = {});
  exchange(exchange&&) noexcept;
  exchange& operator=(exchange&&) noexcept;
  /// Closes without waiting.
  ~exchange();

  /// Gives tasks to all queues of this name, now and in future, as if they had bound themselves.
  void bind(std::string_view queue_name);

  /// Sends a task. Blocks while the window is full. Encoded bytes must be valid. Errors:
  /// shutting_down, closed; those of `failure`. Then it is not sent.
  [[nodiscard]] expected<void> send(const encodable& value);
  /// As `send`, but blocks at most for `timeout`; then the error is request_timeout.
  [[nodiscard]] expected<void> send_for(const encodable& value, std::chrono::nanoseconds timeout);
  /// Sends the result of a task, under the number of that. The task is acknowledged when its result
  /// is: so a chain of stages acknowledges from its end to its beginning, and nothing is lost with
  /// a stage between. Blocks and fails as `send`; then the task is rejected.
  [[nodiscard]] expected<void> send(const encodable& result, task of);
  /// Sends many tasks, cheaper than one by one: values in bin::v1 that lie one behind the other and
  /// must be valid. Blocks and fails as `send`; then the rest is not sent.
  [[nodiscard]] expected<void> send_batch(std::span<const std::byte> values);
  /// Sends the results of as many tasks, in the same way and in their order. Errors: those of
  /// `send`, and invalid_argument where there are fewer; then the rest is rejected.
  [[nodiscard]] expected<void> send_batch(std::span<const std::byte> results, std::vector<task> of);

  /// Sends what is held back until a batch is full. Never blocks.
  void send_pending();
  /// Waits until everything that was sent is acknowledged, at most for `timeout`; returns how many
  /// tasks are not.
  [[nodiscard]] std::size_t drain(std::chrono::nanoseconds timeout);

  /// Waits until so many queues are bound. False at the timeout, or once closed.
  [[nodiscard]] bool wait_for_queues(std::size_t n, std::chrono::nanoseconds timeout) const;
  /// Queues that are bound, as far as is known here.
  std::size_t queues() const;
  /// Tasks that begin here have it as their source.
  const endpoint_id& id() const noexcept;
  exchange_counters counters() const;
  /// Tasks sent and not acknowledged.
  std::size_t in_flight() const;

  /// Ends waits; tasks in flight are abandoned: call `drain` before. Idempotent.
  void close();
  bool closed() const;
  /// Why it has closed by itself: invalid_argument, another exchange has its name. `none` if it has
  /// not.
  error failure() const;

private:
  explicit exchange(std::shared_ptr<pattern::exchange_core> core) noexcept;

  std::shared_ptr<pattern::exchange_core> core_;
};

/// A named input, or one without a name that is bound to exchanges. Gives out each task that an
/// exchange has given it once, in the order of `task_queue_options::order`. Thread-safe. Shares the
/// core of the endpoint, which may be moved or destroyed.
class PUBSUB_EXPORT task_queue {
public:
  /// Does not block, and does not wait for exchanges. Errors: invalid_argument, an option is out of
  /// range; shutting_down, the endpoint is closed.
  [[nodiscard]] static expected<task_queue> open(const endpoint& at, std::string_view name,
                                                 const task_queue_options& options = {});
  task_queue(task_queue&&) noexcept;
  task_queue& operator=(task_queue&&) noexcept;
  /// Closes.
  ~task_queue();

  /// Takes part in the tasks of all exchanges of this name, now and in future.
  void bind(std::string_view exchange_name);

  /// The next task. Blocks until there is one, or it is closed.
  received<task> get();
  /// As `get`, but blocks at most for `timeout`.
  received<task> get_for(std::chrono::nanoseconds timeout);
  /// As `get`, but never blocks.
  received<task> try_get();
  /// The next tasks that are here, at least one and at most `max`. Blocks as `get`.
  received<std::vector<task>> get_batch(std::size_t max);
  received<std::vector<task>> get_batch_for(std::size_t max, std::chrono::nanoseconds timeout);
  /// Tasks that are here and were not given out.
  std::size_t available() const;
  /// A file descriptor that is readable while a task may be here, or it is closed
  /// (level-triggered); owned by the queue. Where it is readable `try_get` may still find none:
  /// exchanges say other things, too. For select, poll, epoll and event loops; do not read from it.
  int fd() const;
  /// Waits until so many exchanges that this queue is bound to are known here. False at the
  /// timeout, or once closed: a name may be wrong, or a link missing.
  [[nodiscard]] bool wait_for_exchanges(std::size_t n, std::chrono::nanoseconds timeout) const;
  /// Exchanges that this queue is bound to and that are known here.
  std::size_t exchanges() const;

  /// Ends waits. Tasks that are here and not done go to other queues. Idempotent.
  void close();
  bool closed() const;

private:
  explicit task_queue(std::shared_ptr<pattern::task_queue_core> core) noexcept;
  static task wrap(pattern::ready_task&& found);

  std::shared_ptr<pattern::task_queue_core> core_;
};

} // namespace pubsub
