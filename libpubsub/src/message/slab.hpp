// Bump allocation of message bytes: one heap block for hundreds of messages.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
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
    if (!current_ || current_->capacity() - used_ < size)
      start_chunk(size);
    return current_->data() + used_;
  }
  void commit(std::size_t size) noexcept { used_ += size; }

  const chunk* current() const noexcept { return current_.get(); }

private:
  static constexpr std::size_t max_spares = 16;

  void start_chunk(std::size_t at_least);

  intrusive_ptr<chunk> current_;
  std::vector<intrusive_ptr<chunk>> spares_; // full ones, oldest first
  std::size_t used_ = 0;
};

} // namespace pubsub
