// A set of topic prefixes, kept minimal and sorted.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/export.hpp>
#include <pubsub/topic.hpp>

namespace pubsub {

/// What a subscriber or peer receives: a topic matches if any entry is a prefix of it,
/// compared byte by byte. The empty prefix matches everything, the empty filter nothing.
class PUBSUB_EXPORT filter {
public:
  using const_iterator = std::vector<std::string>::const_iterator;

  filter() = default;
  filter(std::initializer_list<topic> prefixes);
  /// Takes n log n steps, in whatever order they come.
  explicit filter(std::vector<std::string> prefixes);

  /// Adds `prefix` and removes the entries it covers. Returns false if it was covered already.
  /// Moves all that sort behind: to add many, make a filter of all of them.
  bool add(std::string_view prefix);
  /// Adds every entry of `other`. Returns false if nothing changed.
  bool add(const filter& other);
  /// True if an entry is a prefix of `topic`.
  bool matches(std::string_view topic) const noexcept;

  bool empty() const noexcept { return prefixes_.empty(); }
  std::size_t size() const noexcept { return prefixes_.size(); }
  const_iterator begin() const noexcept { return prefixes_.begin(); }
  const_iterator end() const noexcept { return prefixes_.end(); }

  friend bool operator==(const filter&, const filter&) = default;

private:
  std::vector<std::string> prefixes_; // sorted; none is a prefix of another
};

/// `{/a, /b/c}`.
PUBSUB_EXPORT std::string to_string(const filter& x);

} // namespace pubsub
