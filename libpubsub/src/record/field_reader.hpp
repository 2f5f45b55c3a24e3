// Reading the fields of a record of an untrusted file.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "record/little_endian.hpp"

namespace pubsub::record {

/// A cursor that never leaves its bytes. Each read returns false where they end; output and
/// position are then unspecified, so stop at the first false. What is returned points into them.
class field_reader {
public:
  explicit field_reader(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  bool at_end() const noexcept { return bytes_.empty(); }
  std::span<const std::byte> rest() const noexcept { return bytes_; }

  template <std::integral T>
  [[nodiscard]] bool read(T& out) noexcept {
    if (bytes_.size() < sizeof out)
      return false;
    out = load_le<T>(bytes_.data());
    bytes_ = bytes_.subspan(sizeof out);
    return true;
  }
  [[nodiscard]] bool read_bytes(std::uint64_t size, std::span<const std::byte>& out) noexcept {
    if (bytes_.size() < size)
      return false;
    out = bytes_.first(static_cast<std::size_t>(size));
    bytes_ = bytes_.subspan(static_cast<std::size_t>(size));
    return true;
  }
  /// Behind four bytes of length.
  [[nodiscard]] bool read_block(std::span<const std::byte>& out) noexcept {
    std::uint32_t size = 0;
    return read(size) && read_bytes(size, out);
  }
  /// The same as text.
  [[nodiscard]] bool read_text(std::string_view& out) noexcept {
    std::span<const std::byte> block;
    if (!read_block(block))
      return false;
    out = {reinterpret_cast<const char*>(block.data()), block.size()};
    return true;
  }

private:
  std::span<const std::byte> bytes_;
};

} // namespace pubsub::record
