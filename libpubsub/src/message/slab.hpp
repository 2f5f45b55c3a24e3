// Bump allocation of message bytes: one heap block for hundreds of messages.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "message/chunk.hpp"

namespace pubsub {

/// Appends bytes to a chunk and goes on to another when it is full; every slice of a chunk holds a
/// reference to it. Chunks without slices are used again, so a steady stream allocates nothing.
/// Thread-safety: one thread.
class slab {
public:
  static constexpr std::size_t chunk_bytes = 64 * 1024;

  slab() = default;
  slab(const slab&) = delete;
  slab& operator=(const slab&) = delete;

  /// Room for `size` contiguous bytes; becomes part of the chunk with `commit`. A request larger
  /// than a chunk gets a chunk of its own.
  std::byte* reserve(std::size_t size) {
    if (!has_room(size))
      start_chunk(size);
    return reserve_here();
  }
  /// Whether so many bytes go into the chunk at hand.
  bool has_room(std::size_t size) const noexcept {
    return current_ && current_->capacity() - used_ >= size;
  }
  /// As `reserve`, where the chunk at hand has room.
  std::byte* reserve_here() const noexcept { return current_->data() + used_; }
  void commit(std::size_t size) noexcept {
    fetch(used_ + fetched_ahead_bytes, std::min(size, fetched_ahead_bytes));
    used_ += size;
  }

  const chunk* current() const noexcept { return current_.get(); }

private:
  static constexpr std::size_t max_spares = 16;
  // Enough for what it takes to get memory from another processor, and little of a chunk: from 512
  // to 4096 all are as fast (`pubsub bench stream --mode both`).
  static constexpr std::size_t fetched_ahead_bytes = 1024;
  static constexpr std::size_t cache_line_bytes = 64;

  /// Begins to get memory that is written to soon from the processor that has read it last. Without
  /// that the atomic step that completes a message waits until all its bytes are written, and each
  /// line of them for that other processor, one after the other. What is fetched behind the end of
  /// the chunk is not looked at.
  void fetch(std::size_t from, std::size_t size) const noexcept {
    auto at = reinterpret_cast<std::uintptr_t>(current_->data()) + from;
    for (const auto end = at + size; at < end; at += cache_line_bytes)
      fetch_for_writing(reinterpret_cast<const void*>(at));
  }
  static void fetch_for_writing(const void* at) noexcept {
#if defined(__x86_64__)
    // Processors that do not know it do nothing. The builtin makes it only where a processor is
    // named that does, and else leaves the line with its reader, too.
    asm volatile("prefetchw (%0)" : : "r"(at));
#else
    __builtin_prefetch(at, 1);
#endif
  }
  void start_chunk(std::size_t at_least);

  intrusive_ptr<chunk> current_;
  std::vector<intrusive_ptr<chunk>> spares_; // full ones, oldest first
  std::size_t used_ = 0;
};

} // namespace pubsub
