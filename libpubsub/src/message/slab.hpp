// Bump allocation of message bytes: one heap block for hundreds of messages.
#pragma once

#include <cstddef>
#include <cstdint>

#include "message/chunk.hpp"

namespace pubsub {

/// Appends byte runs to a chunk and starts a new chunk when one is full. Thread-safety: one thread.
/// References for slices are taken from the chunk in bulk, so handing one out is not an atomic
/// operation.
class slab {
public:
  static constexpr std::size_t chunk_bytes = 64 * 1024;

  slab() = default;
  slab(const slab&) = delete;
  slab& operator=(const slab&) = delete;
  ~slab() { retire(); }

  /// Room for `size` contiguous bytes; becomes part of the chunk with `commit`. A request larger
  /// than a chunk gets a chunk of its own.
  std::byte* reserve(std::size_t size) {
    if (current_ == nullptr || current_->capacity() - used_ < size)
      start_chunk(size);
    return current_->data() + used_;
  }
  void commit(std::size_t size) noexcept { used_ += size; }

  chunk* current() const noexcept { return current_; }
  /// One reference to the current chunk, owned by the caller.
  const chunk* take_reference() noexcept {
    if (spare_references_ == 0)
      stock_up();
    --spare_references_;
    return current_;
  }

private:
  void start_chunk(std::size_t at_least);
  void stock_up() noexcept;
  void retire() noexcept;

  chunk* current_ = nullptr; // holds one reference plus the spare ones
  std::size_t used_ = 0;
  std::uint32_t spare_references_ = 0;
};

} // namespace pubsub
