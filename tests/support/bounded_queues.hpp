// One face for message_queue and outbox, so that one suite can hold both to the same rules.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/bytes.hpp"
#include "message/record.hpp"
#include "message/slab.hpp"
#include "queue/message_queue.hpp"
#include "queue/outbox.hpp"
#include "queue/run_writer.hpp"

namespace pubsub::test {

/// Counters both places have.
struct account {
  std::uint64_t offered = 0;
  std::uint64_t delivered = 0;
  std::uint64_t dropped = 0;
  std::uint64_t queued = 0;

  bool adds_up() const { return offered == delivered + dropped + queued; }
};

/// Counts how often it was resumed.
struct counting_source final : flow_source {
  void resume() noexcept override { ++resumed; }
  std::atomic<int> resumed{0};
};

inline constexpr std::uint32_t usual_size = 64;

using numbers = std::vector<std::uint64_t>;

/// The numbers of [from, to).
inline numbers range(std::uint64_t from, std::uint64_t to) {
  numbers result(to - from);
  std::iota(result.begin(), result.end(), from);
  return result;
}

/// Publishes one finished run of one message, the way an idle publisher does.
inline push_result push_alone(bounded_queue& queue, data_message msg,
                              std::uint32_t size = usual_size, when_full mode = when_full::wait) {
  bounded_queue* const exits[] = {&queue};
  run_writer writer;
  return writer.push(exits, msg, size, {}, mode);
}

/// Messages are numbered; every one counts `size` bytes. Their topics take turns.
class queue_under_test {
public:
  explicit queue_under_test(const queue_options& options, std::size_t topics = 1)
      : queue_(options), topics_(topics) {}

  push_result push(std::uint64_t number, when_full mode = when_full::wait,
                   std::uint32_t size = usual_size) {
    return push_alone(queue_, message(number), size, mode);
  }
  /// Offers `all` at once, as a link does. True if `source` was paused.
  bool push_run(const numbers& all, const std::shared_ptr<flow_source>& source,
                std::uint32_t size = usual_size) {
    auto run = message_run::of_handles(static_cast<std::uint32_t>(all.size()));
    for (auto each : all) {
      auto msg = message(each);
      run->append(msg, size);
    }
    run->close();
    return queue_.push_run(run, source);
  }
  /// Everything that is there.
  numbers pull_all() { return pull(1'000'000); }
  numbers pull(std::size_t most) {
    std::vector<data_message> out;
    queue_.pull(out, most, std::chrono::steady_clock::time_point::min());
    numbers result;
    for (const auto& each : out)
      result.push_back(*get_data(each).get_if<count>());
    return result;
  }
  bool has_room() { return queue_.wait_for_room(std::chrono::steady_clock::time_point::min()); }
  void end() { queue_.discard(); }
  account counters() const {
    const auto c = queue_.counters();
    return {c.offered, c.delivered, c.dropped(), c.queued};
  }
  bounded_queue& queue() { return queue_; }
  /// The writer's next message: built, for a queue of messages.
  static push_result write(run_writer& writer, run_writer::exits to, std::uint64_t number,
                           const deadline& until = {}) {
    auto msg = make_data_message("/t", count{number});
    return writer.push(to, msg, usual_size, until);
  }

private:
  data_message message(std::uint64_t number) const {
    return make_data_message("/t" + std::to_string(number % topics_), count{number});
  }

  message_queue queue_;
  const std::size_t topics_;
};

/// As above; a record of `size` bytes carries the number.
class outbox_under_test {
public:
  explicit outbox_under_test(const queue_options& options, std::size_t topics = 1)
      : box_(options, {.on_work = [] {}}), topics_(topics) {}

  push_result push(std::uint64_t number, when_full mode = when_full::wait,
                   std::uint32_t size = usual_size) {
    slab memory;
    const auto source = write_records(memory, {number}, size, topics_);
    if (box_.takes_one_by_one())
      return box_.push(message_run::of_records(source, {1, size}));
    if (mode == when_full::overshoot) { // a run that has entered may hold its first message
      auto run = message_run::of_records(source);
      const auto granted = box_.open(run, run->topic_at({}));
      if (granted.entered)
        run->append(size);
      run->close();
      return granted.result;
    }
    bounded_queue* const exits[] = {&box_};
    run_writer writer;
    return writer.push(exits, source, size, {});
  }
  bool push_run(const numbers& all, const std::shared_ptr<flow_source>& source,
                std::uint32_t size = usual_size) {
    slab memory;
    return box_.push_run(run_of(memory, all, size, topics_), source);
  }
  numbers pull_all() { return pull(1'000'000); }
  /// As many runs.
  numbers pull(std::size_t most) {
    std::vector<run_slice> slices;
    box_.take(slices, most, ~std::size_t{0});
    numbers result;
    for (const auto& each : slices) {
      read_records(each, result);
      box_.written(each.size);
    }
    return result;
  }
  bool has_room() { return box_.wait_for_room(std::chrono::steady_clock::time_point::min()); }
  void end() { box_.close(); }
  account counters() const {
    const auto c = box_.counters();
    return {c.offered, c.sent, c.dropped(), c.queued};
  }
  bounded_queue& queue() { return box_; }
  static push_result write(run_writer& writer, run_writer::exits to, std::uint64_t number,
                           const deadline& until = {}) {
    thread_local slab memory;
    return writer.push(to, write_records(memory, {number}, usual_size), usual_size, until);
  }

  /// Records of `size` bytes each, one after the other.
  static record_source write_records(slab& memory, const numbers& all, std::uint32_t size,
                                     std::size_t topics = 1) {
    auto* const first = memory.reserve(all.size() * size);
    auto* pos = first;
    for (auto each : all) {
      store_be(write_record_header(pos, size - record_header_bytes,
                                   static_cast<std::uint8_t>(each % topics)),
               each);
      pos += size;
    }
    memory.commit(all.size() * size);
    record_source source;
    source.owner = memory.current();
    source.first = first;
    source.topics = all_topics();
    source.origin.first_sequence = all.front();
    return source;
  }
  static intrusive_ptr<message_run> run_of(slab& memory, const numbers& all,
                                           std::uint32_t size = usual_size,
                                           std::size_t topics = 1) {
    const auto count = static_cast<std::uint32_t>(all.size());
    return message_run::of_records(write_records(memory, all, size, topics),
                                   {count, std::uint64_t{count} * size});
  }
  static void read_records(const run_slice& slice, numbers& to) {
    const auto* pos = slice.run->bytes() + slice.from.bytes;
    for (const auto* end = pos + slice.size.bytes; pos != end; pos += record_bytes(pos))
      to.push_back(load_be<std::uint64_t>(pos + record_header_bytes));
  }
  static const topic_table* all_topics() {
    static const auto table = [] {
      auto all = topic_table::make(topic_table::max_topics);
      while (!all->full())
        all->add("/t" + std::to_string(all->size()));
      return all;
    }();
    return table.get();
  }

private:
  outbox box_;
  const std::size_t topics_;
};

} // namespace pubsub::test

TYPE_TO_STRING_AS("queue_under_test", pubsub::test::queue_under_test);
TYPE_TO_STRING_AS("outbox_under_test", pubsub::test::outbox_under_test);
