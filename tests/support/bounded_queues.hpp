// One face for message_queue and outbox, so that one suite can hold both to the same rules.
#pragma once

#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include "base/bytes.hpp"
#include "message/slab.hpp"
#include "queue/message_queue.hpp"
#include "queue/outbox.hpp"

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

/// Messages are numbered; every one counts `size` bytes.
class queue_under_test {
public:
  explicit queue_under_test(const queue_options& options) : queue_(options) {}

  push_result push(std::uint64_t number, when_full mode = when_full::wait,
                   std::uint32_t size = usual_size) {
    return queue_.push(make_data_message("/t", count{number}), size, mode);
  }
  /// Offers `numbers` at once, as a link does. True if `source` was paused.
  bool push_run(const std::vector<std::uint64_t>& numbers,
                const std::shared_ptr<flow_source>& source, std::uint32_t size = usual_size) {
    std::vector<queued_message> batch;
    for (auto each : numbers)
      batch.push_back({make_data_message("/t", count{each}), size});
    return queue_.push_batch(batch, source);
  }
  /// Everything that is there.
  std::vector<std::uint64_t> pull_all() {
    std::vector<data_message> out;
    queue_.pull(out, 1'000'000, std::chrono::steady_clock::time_point::min());
    std::vector<std::uint64_t> numbers;
    for (const auto& each : out)
      numbers.push_back(*get_data(each).get_if<count>());
    return numbers;
  }
  bool has_room() { return queue_.wait_for_room(std::chrono::steady_clock::time_point::min()); }
  void end() { queue_.discard(); }
  account counters() const {
    const auto c = queue_.counters();
    return {c.offered, c.delivered, c.dropped(), c.queued};
  }

private:
  message_queue queue_;
};

/// As above; a frame of `size` bytes carries the number.
class outbox_under_test {
public:
  explicit outbox_under_test(const queue_options& options) : box_(options, [] {}) {}

  push_result push(std::uint64_t number, when_full mode = when_full::wait,
                   std::uint32_t size = usual_size) {
    slab memory;
    const auto* frame = write_frames(memory, {number}, size);
    return box_.push(memory.current(), frame, size, 1, mode);
  }
  bool push_run(const std::vector<std::uint64_t>& numbers,
                const std::shared_ptr<flow_source>& source, std::uint32_t size = usual_size) {
    slab memory;
    const auto* frames = write_frames(memory, numbers, size);
    return box_.push_from(memory.current(), frames, numbers.size() * size,
                          static_cast<std::uint32_t>(numbers.size()), source);
  }
  std::vector<std::uint64_t> pull_all() {
    std::vector<frame_run> runs;
    box_.take(runs, 1'000'000, ~std::size_t{0});
    std::vector<std::uint64_t> numbers;
    for (const auto& each : runs) {
      read_frames(each, numbers);
      box_.written(each.messages, each.size_bytes);
    }
    return numbers;
  }
  bool has_room() { return box_.wait_for_room(std::chrono::steady_clock::time_point::min()); }
  void end() { box_.close(); }
  account counters() const {
    const auto c = box_.counters();
    return {c.offered, c.sent, c.dropped(), c.queued};
  }

  /// Frames of `size` bytes each, one after the other.
  static const std::byte* write_frames(slab& memory, const std::vector<std::uint64_t>& numbers,
                                       std::uint32_t size) {
    auto* const first = memory.reserve(numbers.size() * size);
    auto* pos = first;
    for (auto each : numbers) {
      store_be(store_be(pos, size - 4), each);
      pos += size;
    }
    memory.commit(numbers.size() * size);
    return first;
  }
  static void read_frames(const frame_run& run, std::vector<std::uint64_t>& numbers) {
    for (const auto* pos = run.bytes; pos != run.bytes + run.size_bytes;) {
      numbers.push_back(load_be<std::uint64_t>(pos + 4));
      pos += 4 + load_be<std::uint32_t>(pos);
    }
  }

private:
  outbox box_;
};

} // namespace pubsub::test
