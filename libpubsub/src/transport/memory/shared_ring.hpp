// One direction of a connection through shared memory: a ring of bytes between one writer and one
// reader. Rule: what lies in the ring may be changed by the peer at any time. So each side keeps
// its own position in memory of its own, and believes the other's only within the size of the ring.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "transport/asio.hpp"

namespace pubsub {

/// What both sides see of a ring; all zero at first. Each word is written by one side, but for the
/// two that say who sleeps. Words of different sides lie on cache lines of their own, and on
/// different pairs of lines, as processors fetch them.
struct ring_control {
  static constexpr std::size_t apart_bytes = 128;
  using word = std::atomic<std::uint64_t>;
  static_assert(word::is_always_lock_free, "processes share it");

  alignas(apart_bytes) word written; ///< bytes so far, by the writer
  word begins_at; ///< by the writer: 0, or 1 + the bytes that it has sent by its socket before
  alignas(apart_bytes) word read;          ///< bytes so far, by the reader
  alignas(apart_bytes) word reader_sleeps; ///< 1: the reader is to be woken when there is more
  alignas(apart_bytes) word writer_sleeps; ///< 1: the writer is to be woken when there is room
};

/// Who sleeps says so, and looks once more; who has changed something looks whether the other
/// sleeps. One of them sees the other.
inline void say_asleep(ring_control::word& flag) noexcept {
  flag.store(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
/// Whether the other side is to be woken, by the caller alone.
inline bool finds_asleep(ring_control::word& flag) noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return flag.load(std::memory_order_relaxed) != 0 &&
         flag.exchange(0, std::memory_order_acq_rel) != 0;
}

/// A ring as mapped into this process: its bytes twice, one behind the other, so that no piece of
/// up to `capacity` bytes ever wraps around. `capacity` is a power of two.
struct ring_view {
  ring_control* control = nullptr;
  std::byte* bytes = nullptr;
  std::size_t capacity = 0;

  std::byte* at(std::uint64_t position) const noexcept {
    return bytes + (position & (capacity - 1));
  }
};

/// The writing side. Not thread-safe.
class ring_writer {
public:
  explicit ring_writer(ring_view ring) noexcept : ring_(ring) {}

  /// Copies as much as there is room for, and returns how much that is. Nothing: the peer's
  /// position cannot be true.
  std::optional<std::size_t> write(std::span<const asio::const_buffer> from) noexcept {
    std::size_t wanted = 0;
    for (const auto& each : from)
      wanted += each.size();
    if (ring_.capacity - (written_ - read_) < wanted && !look())
      return {};
    const auto end = written_ + std::min(wanted, ring_.capacity - (written_ - read_));
    auto at = written_;
    for (const auto& each : from) {
      const auto n = std::min<std::size_t>(each.size(), end - at);
      if (n > 0)
        std::memcpy(ring_.at(at), each.data(), n);
      at += n;
    }
    const auto n = static_cast<std::size_t>(end - written_);
    written_ = end;
    ring_.control->written.store(end, std::memory_order_release);
    return n;
  }
  /// After a write: whether the reader is to be woken.
  bool finds_reader_asleep() noexcept { return finds_asleep(ring_.control->reader_sleeps); }
  /// There was no room. True if there is some now, or the peer lies; otherwise the peer wakes this
  /// side.
  bool sleep_fails() noexcept {
    say_asleep(ring_.control->writer_sleeps);
    return !look() || written_ - read_ < ring_.capacity;
  }

private:
  /// False if the peer says that it has read more than there was, or less than before.
  bool look() noexcept {
    const auto read = ring_.control->read.load(std::memory_order_acquire);
    if (read - read_ > written_ - read_)
      return false;
    read_ = read;
    return true;
  }

  const ring_view ring_;
  std::uint64_t written_ = 0;
  std::uint64_t read_ = 0; // as last seen
};

/// The reading side. Not thread-safe.
class ring_reader {
public:
  explicit ring_reader(ring_view ring) noexcept : ring_(ring) {}

  /// Copies what there is, as far as it fits, and returns how much that is. Nothing: the peer's
  /// position cannot be true.
  std::optional<std::size_t> read(asio::mutable_buffer into) noexcept {
    if (written_ - read_ < into.size() && !look())
      return {};
    const auto n = std::min<std::size_t>(into.size(), written_ - read_);
    std::memcpy(into.data(), ring_.at(read_), n);
    read_ += n;
    ring_.control->read.store(read_, std::memory_order_release);
    return n;
  }
  /// After a read: whether the writer is to be woken. It sleeps on until half of the ring is free,
  /// so that it has something to do when it comes.
  bool finds_writer_asleep() noexcept {
    return written_ - read_ <= ring_.capacity / 2 && finds_asleep(ring_.control->writer_sleeps);
  }
  /// There was nothing. True if there is something now, or the peer lies; otherwise the peer wakes
  /// this side.
  bool sleep_fails() noexcept {
    say_asleep(ring_.control->reader_sleeps);
    return !look() || written_ != read_;
  }

private:
  /// False if the peer says that it has written less than before, or more than there is room for.
  bool look() noexcept {
    const auto written = ring_.control->written.load(std::memory_order_acquire);
    if (written - read_ > ring_.capacity || written - read_ < written_ - read_)
      return false;
    written_ = written;
    return true;
  }

  const ring_view ring_;
  std::uint64_t written_ = 0; // as last seen
  std::uint64_t read_ = 0;
};

} // namespace pubsub
