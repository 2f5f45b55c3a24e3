// Tasks that wait until somebody may have them. Pure: no I/O, no threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "pattern/pipeline/task_messages.hpp"

namespace pubsub::pattern {

/// Tasks that another exchange has given us, whose acknowledgement waits for that of their results.
struct upstream_tasks {
  endpoint_id exchange;    // nil: there is none
  std::uint64_t place = 0; // of the first; those of the others follow
  bool direct = false;     // their source hears of it in another way, too
};

/// `count` of them, at places that follow one another.
struct upstream_run {
  endpoint_id exchange;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  bool direct = false;
};

/// Appends tasks to a list of runs.
inline void append(std::vector<upstream_run>& to, const upstream_run& more) {
  if (!to.empty() && to.back().first + to.back().count == more.first &&
      to.back().exchange == more.exchange && to.back().direct == more.direct)
    to.back().count += more.count;
  else
    to.push_back(more);
}

/// Tasks as they come in, whose numbers follow one another.
struct new_tasks {
  endpoint_id source;
  std::uint64_t number = 0;
  std::span<const std::byte> values{}; // one behind the other
  std::span<const std::size_t> ends{}; // of each in `values`
  bool redelivered = false;
  upstream_tasks upstream = {};
};

/// They are cut into batches as late as can be: how large those should be is known best then.
class task_pool {
public:
  /// Of all tasks, or of none, it is known where they came from.
  struct cutting {
    task_batch tasks;
    std::vector<upstream_run> upstream;
  };

  void add(const new_tasks& more);
  std::size_t size() const noexcept { return size_; }
  /// What is here needs no company any more.
  void release() noexcept { released_ = size_; }
  bool holds_back() const noexcept { return released_ < size_; }
  /// How many may be cut if batches shall have so many: 0, or fewer where the next are of another
  /// kind.
  std::size_t ready(std::size_t wanted) const noexcept;
  /// The next `n`, at most as many as are ready.
  cutting cut(std::size_t n);

private:
  /// Of one kind: what batches have in common is the same for all.
  struct segment {
    endpoint_id source;
    bool redelivered = false;
    endpoint_id upstream;
    bool direct = false;
    number_queue numbers{};
    number_queue places{};           // upstream
    std::vector<std::size_t> ends{}; // of their values
    data_writer values{};
    std::size_t next = 0; // task to be cut
  };

  static constexpr std::size_t max_segment_tasks = 4096;
  static constexpr std::size_t max_segment_bytes = 64 * 1024;

  bool fits(const new_tasks& more) const noexcept;
  static void take_values(segment& from, std::size_t n, data_writer& to);

  std::deque<segment> segments_;
  std::size_t size_ = 0;
  std::size_t released_ = 0; // of them, from the front
};

} // namespace pubsub::pattern
