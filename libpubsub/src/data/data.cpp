// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/data.hpp>

#include "data/real_bits.hpp"

#include <array>
#include <concepts>

namespace pubsub {

namespace {

int compare(const data& x, const data& y) noexcept;

int compare(none, none) noexcept {
  return 0;
}

int compare(real x, real y) noexcept {
  return compare_real(x, y);
}

int compare(const std::string& x, const std::string& y) noexcept {
  return x.compare(y);
}

int compare(const enum_value& x, const enum_value& y) noexcept {
  return x.name().compare(y.name());
}

int compare(const table::value_type& x, const table::value_type& y) noexcept {
  const int order = compare(x.first, y.first);
  return order != 0 ? order : compare(x.second, y.second);
}

template <class T>
int compare(const T& x, const T& y) noexcept {
  return x < y ? -1 : static_cast<int>(y < x);
}

// The standard containers' own comparison asks `x < y` and then `y < x` of every member, which
// doubles the work at each level of nesting; a three-way walk stays linear.
template <class T>
requires std::same_as<T, vector> || std::same_as<T, set> || std::same_as<T, table>
int compare(const T& x, const T& y) noexcept {
  auto i = x.begin();
  auto j = y.begin();
  for (; i != x.end() && j != y.end(); ++i, ++j)
    if (const int order = compare(*i, *j); order != 0)
      return order;
  return static_cast<int>(i != x.end()) - static_cast<int>(j != y.end());
}

int compare(const data& x, const data& y) noexcept {
  if (x.type() != y.type())
    return x.type() < y.type() ? -1 : 1;
  const auto with_y = [&y]<class T>(const T& content) { return compare(content, *y.get_if<T>()); };
  return std::visit(with_y, x.variant());
}

} // namespace

bool operator==(const data& x, const data& y) noexcept {
  return compare(x, y) == 0;
}

std::weak_ordering operator<=>(const data& x, const data& y) noexcept {
  return compare(x, y) <=> 0;
}

std::string_view to_string(data_type type) noexcept {
  static constexpr std::array<std::string_view, 15> names{
      "none", "boolean",   "count",    "integer",    "real", "string", "address", "subnet",
      "port", "timestamp", "timespan", "enum-value", "set",  "table",  "vector"};
  const auto index = static_cast<std::size_t>(type);
  return index < names.size() ? names[index] : std::string_view{"invalid"};
}

} // namespace pubsub
