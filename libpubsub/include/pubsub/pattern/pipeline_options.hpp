// Load-balanced pipelines: how tasks are shared out and acknowledged.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace pubsub {

/// How many queues get a task.
enum class exchange_style : std::uint8_t {
  load_balancing,    ///< one of the queues
  data_distribution, ///< every queue that is bound when it is sent
};

/// Which of the queues gets the next task.
enum class balancing : std::uint8_t {
  least_outstanding, ///< the one with the fewest tasks that it has not acknowledged: a slow queue
                     ///< gets less
  round_robin,       ///< one after the other; where one is slow, all wait for it
};

/// What becomes of the tasks of a worker that is gone.
enum class worker_loss : std::uint8_t {
  redeliver, ///< another gets them, marked `redelivered`: every task is done at least once
  drop,      ///< they are lost, and counted: every task is done at most once
};

/// In which order a queue gives out tasks.
enum class task_order : std::uint8_t {
  as_they_come,
  /// By the numbers that their source gave them, in whatever order workers did them. What comes
  /// early waits; how much that can be, the windows of the sources say. Only for a queue that gets
  /// all tasks there are: a sink.
  by_number,
};

/// Where the names of exchanges and queues are known.
enum class name_scope : std::uint8_t {
  global, ///< wherever messages of this endpoint reach
  local,  ///< in this endpoint
};

/// How an exchange shares out tasks.
struct exchange_options {
  /// How many queues get a task.
  exchange_style style = exchange_style::load_balancing;
  /// Which of the queues gets the next one.
  balancing balance = balancing::least_outstanding;
  /// Tasks that are sent and not acknowledged, those that wait for a queue included; at least 1.
  std::size_t window_tasks = 20'000;
  /// What becomes of the tasks of a worker that is gone.
  worker_loss on_loss = worker_loss::redeliver;
  /// A task that was lost with so many workers goes to the dead letters; at least 1.
  unsigned max_losses = 3;
  /// The name of the queue that gets those; empty: they are dropped, and counted.
  std::string dead_letters = {};
  name_scope scope = name_scope::global;
  /// A queue that is silent for so long is lost; at least 500 ms.
  std::chrono::nanoseconds liveness_timeout = std::chrono::seconds{3};
};

/// How a queue takes tasks and gives them out.
struct task_queue_options {
  /// Tasks that may be here and not be acknowledged, for each exchange that is bound; at least 1.
  /// Without meaning for a queue that gives out tasks by number.
  std::size_t credit_tasks = 10'000;
  /// So many done tasks are acknowledged together, more where they are very short, fewer where
  /// nothing is left to do; at least 1.
  std::size_t batch_tasks = 10;
  /// Tasks that are worked on at a time, at least 1: it tells which of them a worker may have died
  /// of.
  std::size_t concurrency = 1;
  /// In which order tasks are given out.
  task_order order = task_order::as_they_come;
  name_scope scope = name_scope::global;
};

/// Tasks of one exchange. `sent == done + dropped + dead + in flight`.
struct exchange_counters {
  std::uint64_t sent = 0;
  std::uint64_t done = 0;          ///< acknowledged
  std::uint64_t redelivered = 0;   ///< times a task was given to another queue
  std::uint64_t dropped = 0;       ///< with a queue that was lost
  std::uint64_t dead = 0;          ///< lost with too many queues
  std::uint64_t batches = 0;       ///< messages that carried them
  std::uint64_t in_flight_max = 0; ///< most that were in flight at a time
};

} // namespace pubsub
