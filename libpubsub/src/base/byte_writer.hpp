// Building bytes field by field: what byte_reader reads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <pubsub/value/endpoint_id.hpp>

#include "base/bytes.hpp"

namespace pubsub {

/// Each `add` appends one field and returns the writer.
class byte_writer {
public:
  /// `headroom` bytes in front are for the caller to fill in.
  explicit byte_writer(std::size_t headroom = 0) {
    bytes_.reserve(headroom + usual_bytes);
    bytes_.resize(headroom);
  }

  template <std::integral T>
  byte_writer& add(T value) {
    std::byte bytes[sizeof value];
    store_be(bytes, value);
    return add_bytes(bytes);
  }
  byte_writer& add(const endpoint_id& id) {
    return add_bytes(std::as_bytes(std::span{id.bytes()}));
  }
  /// A varbyte length and the bytes.
  byte_writer& add(std::string_view text) {
    return add_count(text.size()).add_bytes(std::as_bytes(std::span{text}));
  }
  /// A varbyte count and the items.
  template <class Items>
  requires std::ranges::sized_range<const Items> &&
      (!std::convertible_to<const Items&, std::string_view>)byte_writer& add(const Items& items) {
    add_count(items.size());
    for (const auto& each : items)
      add(each);
    return *this;
  }
  /// A varbyte.
  byte_writer& add_count(std::size_t n) {
    std::byte bytes[max_varbyte_bytes];
    const auto* const end = store_varbyte(bytes, static_cast<std::uint32_t>(n));
    return add_bytes({bytes, static_cast<std::size_t>(end - bytes)});
  }
  byte_writer& add_bytes(std::span<const std::byte> bytes) {
    const auto at = bytes_.size();
    bytes_.resize(at + bytes.size());
    std::copy(bytes.begin(), bytes.end(), bytes_.data() + at);
    return *this;
  }

  std::vector<std::byte> take() noexcept { return std::move(bytes_); }

private:
  static constexpr std::size_t usual_bytes = 64; // few frames are longer

  std::vector<std::byte> bytes_;
};

} // namespace pubsub
