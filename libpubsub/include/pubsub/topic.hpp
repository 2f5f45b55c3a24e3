// Topics: byte strings that subscribers select by prefix.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <utility>

#include <pubsub/export.hpp>

namespace pubsub {

/// An arbitrary byte string; `/` is a convention only. At most 65,535 bytes travel over a link, and
/// topics that contain `<$>` are reserved.
class PUBSUB_EXPORT topic {
public:
  static constexpr std::size_t max_size_bytes = 65'535;

  topic() = default;
  topic(std::string text) : text_(std::move(text)) {}
  topic(std::string_view text) : text_(text) {}
  topic(const char* text) : text_(text) {}

  const std::string& string() const noexcept { return text_; }
  operator std::string_view() const noexcept { return text_; }

  /// True if a subscription to this topic receives messages published to `other`.
  bool prefix_of(std::string_view other) const noexcept { return other.starts_with(text_); }

  /// Joins with exactly one `/` unless `suffix` already starts with one; one trailing `/` goes.
  topic& operator/=(std::string_view suffix);
  friend topic operator/(topic prefix, std::string_view suffix) {
    return std::move(prefix /= suffix);
  }

  friend auto operator<=>(const topic&, const topic&) = default;
  friend bool operator==(const topic&, const topic&) = default;

private:
  std::string text_;
};

/// True for topics applications must not use: those that contain `<$>`.
PUBSUB_EXPORT bool is_reserved_topic(std::string_view text) noexcept;

} // namespace pubsub
