// Tasks that wait until a queue may have them. Pure: no I/O, no threads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "pattern/pipeline/task_messages.hpp"

namespace pubsub::pattern {

class task_queue_core;

/// `count` tasks that another exchange has given a queue of this process, at places that follow one
/// another. They are acknowledged when their results are.
struct upstream_range {
  task_queue_core* queue = nullptr; ///< kept alive by the exchange that sends the results
  endpoint_id exchange;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  bool direct = false; ///< the end of the pipeline tells their source, too
};

/// Appends tasks to a list of ranges.
inline void append(std::vector<upstream_range>& to, const upstream_range& more) {
  if (!to.empty() && to.back().first + to.back().count == more.first &&
      to.back().queue == more.queue && to.back().exchange == more.exchange &&
      to.back().direct == more.direct)
    to.back().count += more.count;
  else
    to.push_back(more);
}

/// Tasks as they come in, whose numbers follow one another.
struct new_tasks {
  task_source source;
  std::uint64_t number = 0;
  std::size_t count = 0;
  std::span<const std::byte> values{}; ///< as many, one behind the other
  bool redelivered = false;
  upstream_range upstream{}; ///< as many, or none
};

/// How many bytes the first `n` values have, of values that lie one behind the other.
inline std::size_t size_of_values(std::span<const std::byte> values, std::size_t n) {
  std::size_t size = 0;
  for (; n > 0; --n)
    size += data_view::from_valid(values.subspan(size)).bytes().size();
  return size;
}

/// A batch, and what its exchange remembers of it until it is done.
struct tracked_batch {
  task_batch tasks;
  std::vector<upstream_range> upstream; ///< of all tasks, or of none
  /// Of a batch that every queue gets: queues that have not done it, by task.
  std::vector<std::uint32_t> open;
  unsigned losses = 0; ///< of queues that had it
};

/// `n` tasks of a batch from this one on, whose values these are.
inline tracked_batch part_of(const tracked_batch& all, std::size_t first, std::size_t n,
                             std::span<const std::byte> values) {
  const auto& tasks = all.tasks;
  tracked_batch result{{tasks.source, {}, {}, tasks.redelivered, tasks.direct}, {}, {}, all.losses};
  result.tasks.values.write_encoded(values);
  for_each_part(tasks.numbers.runs(), first, n,
                [&](const auto& run) { result.tasks.numbers.append(run); });
  for_each_part(all.upstream, first, n, [&](const auto& run) { append(result.upstream, run); });
  return result;
}

/// Tasks are cut into batches as late as can be: how large those should be is known best then.
class task_pool {
public:
  void add(const new_tasks& more) {
    if (!fits(more)) {
      release(); // what comes now is of another kind, or enough has come
      auto& tasks = segments_.emplace_back().all.tasks;
      tasks.source = more.source;
      tasks.redelivered = more.redelivered;
      tasks.direct = more.upstream.direct;
    }
    auto& to = segments_.back().all;
    to.tasks.values.write_encoded(more.values);
    to.tasks.numbers.append({more.number, more.count});
    if (more.upstream.count > 0)
      append(to.upstream, more.upstream);
    size_ += more.count;
  }
  std::size_t size() const noexcept { return size_; }
  /// What is here is no longer held back until a batch is full.
  void release() noexcept { released_ = size_; }
  bool holds_back() const noexcept { return released_ < size_; }
  /// How many may be cut if batches shall have so many: 0, or fewer where the next are of another
  /// kind.
  std::size_t ready(std::size_t wanted) const noexcept {
    if (size_ == 0 || (released_ == 0 && size_ < wanted))
      return 0;
    const auto& first = segments_.front();
    return std::min(wanted, first.all.tasks.size() - first.next);
  }
  /// The next `n`, at most as many as are ready.
  tracked_batch cut(std::size_t n) {
    auto& from = segments_.front();
    const auto rest = from.all.tasks.size() - from.next;
    tracked_batch result;
    if (n == from.all.tasks.size()) {
      result = std::move(from.all);
    } else {
      const auto values = from.all.tasks.values.bytes().subspan(from.next_value);
      const auto size = n == rest ? values.size() : size_of_values(values, n);
      result = part_of(from.all, from.next, n, values.first(size));
      from.next_value += size;
      from.next += n;
    }
    if (n == rest)
      segments_.pop_front();
    size_ -= n;
    released_ -= std::min(released_, n);
    return result;
  }

private:
  /// Tasks of one kind: what batches have in common is the same for all.
  struct segment {
    tracked_batch all{};
    std::size_t next = 0;       // task to be cut
    std::size_t next_value = 0; // its byte
  };

  static constexpr std::size_t max_segment_tasks = 4096;
  static constexpr std::size_t max_segment_bytes = 64 * 1024;

  bool fits(const new_tasks& more) const noexcept {
    if (segments_.empty())
      return false;
    const auto& [tasks, upstream, open, losses] = segments_.back().all;
    const auto exchange = upstream.empty() ? endpoint_id{} : upstream.back().exchange;
    return tasks.source == more.source && tasks.redelivered == more.redelivered &&
           exchange == more.upstream.exchange && tasks.direct == more.upstream.direct &&
           tasks.size() < max_segment_tasks && tasks.values.size_bytes() < max_segment_bytes;
  }

  std::deque<segment> segments_;
  std::size_t size_ = 0;
  std::size_t released_ = 0; // of them, from the front
};

} // namespace pubsub::pattern
