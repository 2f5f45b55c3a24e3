// Bytes that grow at their end, for what is written to a recording.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "record/little_endian.hpp"

namespace pubsub::record {

/// Unlike a std::vector it does not clear what is about to be written.
class byte_buffer {
public:
  byte_buffer() = default;
  byte_buffer(byte_buffer&& other) noexcept
      : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  byte_buffer& operator=(byte_buffer&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::span<const std::byte> bytes() const noexcept { return {data_.get(), size_}; }
  std::byte* data() noexcept { return data_.get(); }
  /// Forgets the content and keeps the memory.
  void clear() noexcept { size_ = 0; }
  /// Forgets what lies behind the first `size` bytes.
  void truncate(std::size_t size) noexcept { size_ = size; }

  void reserve(std::size_t capacity) {
    if (capacity > capacity_)
      reallocate(capacity);
  }
  /// Gives back the memory that is not used.
  void shrink() {
    if (size_ < capacity_)
      reallocate(size_);
  }
  /// `size` bytes more, to be written by the caller; valid until the next call that adds.
  std::byte* extend(std::size_t size) {
    if (capacity_ - size_ < size)
      reserve(std::max(size_ + size, 2 * capacity_));
    auto* const at = data_.get() + size_;
    size_ += size;
    return at;
  }

  template <std::integral T>
  void add(T value) {
    store_le(extend(sizeof value), value);
  }
  void add_bytes(std::span<const std::byte> bytes) {
    if (!bytes.empty())
      std::memcpy(extend(bytes.size()), bytes.data(), bytes.size());
  }
  /// Four bytes of length, and the text.
  void add_text(std::string_view text) {
    add(static_cast<std::uint32_t>(text.size()));
    add_bytes(std::as_bytes(std::span{text}));
  }
  /// Writes over what stands at `at`.
  template <std::integral T>
  void patch(std::size_t at, T value) noexcept {
    store_le(data_.get() + at, value);
  }

private:
  void reallocate(std::size_t capacity) {
    auto* const moved = new std::byte[capacity]; // not cleared
    if (size_ > 0)
      std::memcpy(moved, data_.get(), size_);
    data_.reset(moved);
    capacity_ = capacity;
  }

  std::unique_ptr<std::byte[]> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

} // namespace pubsub::record
