// Builds the frames of version 2 (docs/wire-format.md). Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ranges>
#include <span>
#include <string_view>
#include <vector>

#include <pubsub/endpoint_id.hpp>

#include "base/bytes.hpp"
#include "message/frame.hpp"
#include "wire/native/frame_kind.hpp"

namespace pubsub::wire {

/// A whole frame, length included, field by field.
class frame_writer {
public:
  explicit frame_writer(frame_kind kind) : frame_(frame_header_bytes) {
    frame_.push_back(static_cast<std::byte>(kind));
  }

  template <std::integral T>
  void add(T value) {
    std::byte bytes[sizeof value];
    store_be(bytes, value);
    add_bytes(bytes);
  }
  void add(const endpoint_id& id) { add_bytes(std::as_bytes(std::span{id.bytes()})); }
  /// A varbyte length and the bytes.
  void add(std::string_view text) {
    add_count(text.size());
    add_bytes(std::as_bytes(std::span{text}));
  }
  /// A varbyte count and the items.
  template <std::ranges::sized_range Items>
  requires(!std::convertible_to<Items, std::string_view>) void add(const Items& items) {
    add_count(items.size());
    for (const auto& each : items)
      add(each);
  }
  /// A varbyte.
  void add_count(std::size_t n) {
    std::byte bytes[max_varbyte_bytes];
    const auto* const end = store_varbyte(bytes, static_cast<std::uint32_t>(n));
    add_bytes({bytes, static_cast<std::size_t>(end - bytes)});
  }
  std::vector<std::byte> finish() {
    const auto size = static_cast<std::uint32_t>(frame_.size() - frame_header_bytes);
    store_be(frame_.data(), batch_flag | size);
    return std::move(frame_);
  }

private:
  void add_bytes(std::span<const std::byte> bytes) {
    frame_.insert(frame_.end(), bytes.begin(), bytes.end());
  }

  std::vector<std::byte> frame_;
};

} // namespace pubsub::wire
