// Broker's topics: text that is joined by slashes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <compare>
#include <concepts>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pubsub/compat/broker/convert.hpp>
#include <pubsub/compat/broker/fwd.hpp>

namespace broker {
inline namespace over_pubsub {

/// Text whose parts are joined by `/`; subscribers select topics by prefix.
class topic {
public:
  static constexpr char sep = '/';
  static constexpr std::string_view reserved = "<$>";

  topic() = default;
  template <class T>
  requires(std::constructible_from<std::string, T> && !std::same_as<std::remove_cvref_t<T>, topic>)
      topic(T&& x)
      : text_(std::forward<T>(x)) {}

  /// Where Broker's data stores are. Nothing comes there: those here have topics of their own.
  static constexpr std::string_view master_suffix_str = "<$>/data/master";
  static constexpr std::string_view clone_suffix_str = "<$>/data/clone";
  static constexpr std::string_view store_events_str = "<$>/local/data/store-events";
  /// Where Broker tells of peers: `endpoint::subscribe` takes these topics, too.
  static constexpr std::string_view errors_str = "<$>/local/data/errors";
  static constexpr std::string_view statuses_str = "<$>/local/data/statuses";

  static topic master_suffix() { return topic{master_suffix_str}; }
  static topic clone_suffix() { return topic{clone_suffix_str}; }
  static topic store_events() { return topic{store_events_str}; }
  static topic errors() { return topic{errors_str}; }
  static topic statuses() { return topic{statuses_str}; }

  /// Its parts, without empty ones.
  static std::vector<std::string> split(const topic& x) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin < x.text_.size();) {
      const auto end = std::min(x.text_.find(sep, begin), x.text_.size());
      if (end > begin)
        parts.push_back(x.text_.substr(begin, end - begin));
      begin = end + 1;
    }
    return parts;
  }
  static topic join(const std::vector<std::string>& parts) {
    topic result;
    for (const auto& part : parts)
      result /= part;
    return result;
  }
  static bool is_prefix(std::string_view text, std::string_view prefix) noexcept {
    return text.starts_with(prefix);
  }

  /// Joins with one `/`; a `/` at the end goes.
  topic& operator/=(const topic& suffix) {
    if (!text_.empty() && !suffix.text_.empty() && suffix.text_.front() != sep)
      text_ += sep;
    text_ += suffix.text_;
    if (!text_.empty() && text_.back() == sep)
      text_.pop_back();
    return *this;
  }
  friend topic operator/(topic prefix, const topic& suffix) { return std::move(prefix /= suffix); }

  const std::string& string() const { return text_; }
  std::string&& move_string() && { return std::move(text_); }
  bool prefix_of(const topic& x) const noexcept { return is_prefix(x.text_, text_); }
  /// What is behind the last `/`.
  std::string_view suffix() const noexcept {
    return std::string_view{text_}.substr(text_.rfind(sep) + 1);
  }
  bool empty() const noexcept { return text_.empty(); }

  friend auto operator<=>(const topic&, const topic&) = default;
  friend bool operator==(const topic&, const topic&) = default;

private:
  std::string text_;
};

inline bool is_prefix(const topic& x, std::string_view prefix) noexcept {
  return topic::is_prefix(x.string(), prefix);
}
/// Whether Broker keeps topics with this prefix within the endpoint.
inline bool is_internal(const topic& x) {
  return x.string().starts_with("<$>/local/");
}
template <std::same_as<topic> T>
bool convert(const T& from, std::string& to) {
  to = from.string();
  return true;
}

inline namespace literals {
inline topic operator""_t(const char* text, std::size_t size) {
  return topic{std::string{text, size}};
}
} // namespace literals

} // namespace over_pubsub
} // namespace broker

template <>
struct std::hash<broker::topic> {
  std::size_t operator()(const broker::topic& x) const noexcept {
    return std::hash<std::string>{}(x.string());
  }
};
