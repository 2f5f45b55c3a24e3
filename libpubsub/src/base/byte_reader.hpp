// Reading fields off the front of untrusted bytes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <pubsub/value/endpoint_id.hpp>

#include "base/bytes.hpp"
#include "base/id_bytes.hpp"

namespace pubsub {

/// A cursor over bytes that never leaves them. Each read returns false where the bytes end or a
/// varbyte is malformed; output and position are then unspecified, so stop at the first false.
/// Returned views point into the bytes given at construction.
class byte_reader {
public:
  explicit byte_reader(std::span<const std::byte> bytes) noexcept
      : begin_(bytes.data()), pos_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  std::size_t offset() const noexcept { return static_cast<std::size_t>(pos_ - begin_); }
  std::size_t remaining() const noexcept { return static_cast<std::size_t>(end_ - pos_); }
  bool at_end() const noexcept { return pos_ == end_; }
  std::span<const std::byte> rest() const noexcept { return {pos_, remaining()}; }

  template <std::integral T>
  [[nodiscard]] bool read(T& out) noexcept {
    if (remaining() < sizeof(T))
      return false;
    out = load_be<T>(pos_);
    pos_ += sizeof(T);
    return true;
  }

  [[nodiscard]] bool read(endpoint_id& out) noexcept {
    if (remaining() < endpoint_id_bytes)
      return false;
    out = read_id(pos_);
    pos_ += endpoint_id_bytes;
    return true;
  }

  [[nodiscard]] bool read_varbyte(std::uint32_t& out) noexcept {
    return load_varbyte(pos_, end_, out) == varbyte_result::ok;
  }

  [[nodiscard]] bool read_bytes(std::size_t size, std::span<const std::byte>& out) noexcept {
    if (remaining() < size)
      return false;
    out = {pos_, size};
    pos_ += size;
    return true;
  }

  /// A varbyte length and that many bytes.
  [[nodiscard]] bool read_string(std::string_view& out) noexcept {
    std::uint32_t size = 0;
    std::span<const std::byte> body;
    if (!read_varbyte(size) || !read_bytes(size, body))
      return false;
    out = {reinterpret_cast<const char*>(body.data()), body.size()};
    return true;
  }

  [[nodiscard]] bool skip(std::size_t size) noexcept {
    std::span<const std::byte> ignored;
    return read_bytes(size, ignored);
  }

private:
  const std::byte* begin_;
  const std::byte* pos_;
  const std::byte* end_;
};

} // namespace pubsub
