// Tasks that wait until a queue may have them. Pure: no I/O, no threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
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
  endpoint_id source;
  std::uint64_t number = 0;
  std::size_t count = 0;
  std::span<const std::byte> values{}; ///< as many, one behind the other
  bool redelivered = false;
  upstream_range upstream{}; ///< as many, or none
};

/// How many bytes the first `n` values have, of values that lie one behind the other.
std::size_t size_of_values(std::span<const std::byte> values, std::size_t n);

/// A batch, and what its exchange remembers of it until it is done.
struct tracked_batch {
  task_batch tasks;
  std::vector<upstream_range> upstream; ///< of all tasks, or of none
  /// Of a batch that every queue gets: queues that have not done it, by task.
  std::vector<std::uint32_t> open;
  unsigned losses = 0; ///< of queues that had it
};

/// Tasks are cut into batches as late as can be: how large those should be is known best then.
class task_pool {
public:
  void add(const new_tasks& more);
  std::size_t size() const noexcept { return size_; }
  /// What is here is no longer held back until a batch is full.
  void release() noexcept { released_ = size_; }
  bool holds_back() const noexcept { return released_ < size_; }
  /// How many may be cut if batches shall have so many: 0, or fewer where the next are of another
  /// kind.
  std::size_t ready(std::size_t wanted) const noexcept;
  /// The next `n`, at most as many as are ready.
  tracked_batch cut(std::size_t n);

private:
  /// Tasks of one kind: what batches have in common is the same for all.
  struct segment {
    tracked_batch all{};
    std::size_t next = 0;       // task to be cut
    std::size_t next_value = 0; // its byte
  };

  static constexpr std::size_t max_segment_tasks = 4096;
  static constexpr std::size_t max_segment_bytes = 64 * 1024;

  bool fits(const new_tasks& more) const noexcept;

  std::deque<segment> segments_;
  std::size_t size_ = 0;
  std::size_t released_ = 0; // of them, from the front
};

} // namespace pubsub::pattern
