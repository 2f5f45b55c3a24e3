// Bump allocation of message bytes: one heap block for hundreds of messages.
#pragma once

#include <algorithm>
#include <cstddef>

#include "message/chunk.hpp"

namespace pubsub {

/// Appends bytes to a chunk and starts a new chunk when one is full; whoever points into a chunk
/// holds a reference of his own. Thread-safety: one thread.
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
  void start_chunk(std::size_t at_least) {
    current_ = chunk::make(std::max(chunk_bytes, at_least));
    used_ = 0;
  }

  intrusive_ptr<chunk> current_;
  std::size_t used_ = 0;
};

} // namespace pubsub
