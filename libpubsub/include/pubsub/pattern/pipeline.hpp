// Load-balanced pipelines: tasks go from exchanges to queues, and are acknowledged.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/data.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/endpoint_id.hpp>
#include <pubsub/error.hpp>
#include <pubsub/pattern/pipeline_options.hpp>

namespace pubsub {

namespace pattern {
class exchange_core;
class task_queue_core;
struct ready_task;
struct task_origin;
} // namespace pattern

/// One piece of work that a queue has given out. Acknowledge it with `done`, or hand it to
/// `exchange::send` with its result; what is neither, and not rejected, is rejected when it is
/// destroyed: another queue gets it. Movable. Not for concurrent use.
class task {
public:
  task(task&& other) noexcept;
  task& operator=(task&& other) noexcept;
  ~task();

  /// Valid as long as the task is.
  const data_view& value() const noexcept { return value_; }
  /// Who gave it its number, and which: the exchange that it entered the pipeline by.
  const endpoint_id& source() const noexcept;
  std::uint64_t number() const noexcept { return number_; }
  /// Another queue has had it, and may have done it.
  bool redelivered() const noexcept;

  /// It is done; acknowledged at once, or together with others (`task_queue_options::batch_tasks`).
  void done();
  /// All are done; cheaper than one by one.
  static void done(std::vector<task> all);
  /// It cannot be done here: another queue gets it, or the dead letters if that happens too often.
  void reject();

private:
  friend class task_queue;
  friend class exchange;
  explicit task(pattern::ready_task&& what);

  std::shared_ptr<const pattern::task_origin> from_; // as long as it lives
  std::uint64_t place_ = 0;
  std::uint64_t number_ = 0;
  data_view value_;
  bool settled_ = false;
};

/// A named output. What is sent goes to the queues that are bound to it, wherever they are, in any
/// order of starting; until there is one it waits. Every member from any thread. The endpoint must
/// outlive it.
class exchange {
public:
  /// A name belongs to one exchange: where there are two, the younger one closes, see `failure`.
  /// Any number have none; those bind queues.
  exchange(endpoint& at, std::string_view name, const exchange_options& options = {});
  exchange(exchange&&) noexcept;
  exchange& operator=(exchange&&) noexcept;
  /// Closes without waiting.
  ~exchange();

  /// Gives tasks to all queues of this name, now and in future, as if they had bound themselves.
  void bind(std::string_view queue_name);

  /// Sends a task. Blocks while the window is full; false once closed.
  bool send(const data& value);
  /// The same, at most so long; false at the deadline: then it is not sent.
  bool send(const data& value, std::chrono::nanoseconds timeout);
  /// The value in bin::v1; must be valid.
  bool send_encoded(std::span<const std::byte> value);
  bool send_encoded(std::span<const std::byte> value, std::chrono::nanoseconds timeout);
  /// Sends the result of a task, under the number of that. The task is acknowledged when its result
  /// is: so a chain of stages acknowledges from its end to its beginning, and nothing is lost with
  /// a stage between. False once closed: then the task is rejected.
  bool send(const data& result, task of);
  bool send_encoded(std::span<const std::byte> result, task of);
  /// Many tasks, cheaper than one by one: values in bin::v1, one behind the other; must be valid.
  /// Blocks while the window is full; false once closed: then the rest is not sent.
  bool send_batch(std::span<const std::byte> values);
  /// The results of as many tasks, in the same way and in their order. False once closed: then the
  /// rest is rejected.
  bool send_batch(std::span<const std::byte> results, std::vector<task> of);

  /// What was sent goes now, and does not wait for company.
  void flush();
  /// Waits until everything that was sent is acknowledged; returns how many tasks are not.
  std::size_t drain(std::chrono::nanoseconds timeout);

  /// Waits until so many queues are bound.
  bool wait_for_queues(std::size_t n, std::chrono::nanoseconds timeout) const;
  std::size_t queues() const;
  const endpoint_id& id() const noexcept;
  exchange_counters counters() const;
  /// Tasks sent and not acknowledged.
  std::size_t in_flight() const;

  /// Ends waits; tasks in flight are abandoned: call `drain` before.
  void close();
  bool closed() const;
  /// Why it has closed by itself: invalid_argument, an option or its name, which is taken. `none`
  /// if it has not.
  error failure() const;

private:
  std::shared_ptr<pattern::exchange_core> core_;
};

/// A named input, or one without a name that is bound to exchanges. Every member from any thread.
/// The endpoint must outlive it.
class task_queue {
public:
  task_queue(endpoint& at, std::string_view name, const task_queue_options& options = {});
  task_queue(task_queue&&) noexcept;
  task_queue& operator=(task_queue&&) noexcept;
  /// Closes.
  ~task_queue();

  /// Takes part in the tasks of all exchanges of this name, now and in future.
  void bind(std::string_view exchange_name);

  /// The next task; blocks until there is one. Nothing once closed.
  std::optional<task> get();
  /// The same, at most so long.
  std::optional<task> get(std::chrono::nanoseconds timeout);
  /// The next tasks, those that are here, at most so many; blocks until there is one. None once
  /// closed.
  std::vector<task> get_batch(std::size_t max);
  std::vector<task> get_batch(std::size_t max, std::chrono::nanoseconds timeout);
  /// Tasks that are here and were not given out.
  std::size_t available() const;
  /// Waits until so many exchanges that this queue is bound to are known here; false where there
  /// are not, or it is closed: a name may be wrong, or a link missing.
  bool wait_for_exchanges(std::size_t n, std::chrono::nanoseconds timeout) const;
  std::size_t exchanges() const;

  /// Tasks that are here and not done go to other queues.
  void close();
  bool closed() const;

private:
  static task wrap(pattern::ready_task&& found);

  std::shared_ptr<pattern::task_queue_core> core_;
};

} // namespace pubsub
