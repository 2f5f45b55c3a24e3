// A subscription as nodes tell it to each other: a topic prefix, or a prefix and a condition.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <pubsub/condition.hpp>

namespace pubsub {

/// Stands between prefix and condition. A node that cannot read what follows it takes the
/// subscription for one to all that begins with the prefix, and the subscriber decides.
inline constexpr std::string_view condition_mark{"\0where\0", 7};
/// Bytes of a condition that is told to others; the subscriber alone evaluates longer ones.
inline constexpr std::size_t max_told_condition_bytes = 16 * 1024;

/// The prefix of topics.
inline std::string_view prefix_of(std::string_view subscription) noexcept {
  return subscription.substr(0, subscription.find(condition_mark));
}
/// With the mark; empty: all that begins with the prefix is wanted.
inline std::string_view condition_of(std::string_view subscription) noexcept {
  return subscription.substr(prefix_of(subscription).size());
}

/// What is appended to prefixes: `mark text NUL unknown { NUL name NUL type }`. Empty where the
/// condition is not told to others.
std::string told_form(const condition& what);

/// Conditions of others, each compiled once as long as anything uses it. Not thread-safe.
class condition_pool {
public:
  using condition_ptr = std::shared_ptr<const condition>;

  explicit condition_pool(text_matcher_maker regex = nullptr) noexcept : regex_(regex) {}

  /// Null if this node cannot read it.
  condition_ptr read(std::string_view told);

private:
  text_matcher_maker regex_;
  std::map<std::string, std::weak_ptr<const condition>, std::less<>> known_;
  std::size_t look_again_ = 64; // for those that are gone, at so many
};

} // namespace pubsub
