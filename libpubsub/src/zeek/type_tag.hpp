// The numbers of Zeek's types, as log messages carry them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pubsub::zeek {

enum class type_tag : std::uint8_t {
  nothing = 0,
  boolean = 1,
  integer = 2,
  count = 3,
  real = 4,
  time = 5,
  interval = 6,
  string = 7,
  pattern = 8,
  enumeration = 9,
  port = 10,
  address = 11,
  subnet = 12,
  any = 13,
  table = 14, ///< in logs: a set
  record = 15,
  list = 16,
  func = 17,
  file = 18,
  vector = 19,
  opaque = 20,
  type = 21,
  error = 22, ///< as a subtype: there is none
};

inline constexpr std::array<std::string_view, 23> type_names{
    "void",    "bool", "int",  "count",  "double", "time", "interval", "string",
    "pattern", "enum", "port", "addr",   "subnet", "any",  "table",    "record",
    "list",    "func", "file", "vector", "opaque", "type", "error"};

constexpr bool is_type_tag(std::int64_t number) noexcept {
  return number >= 0 && number < static_cast<std::int64_t>(type_names.size());
}

/// As a script spells it, e.g. `addr`.
constexpr std::string_view name_of(type_tag x) noexcept {
  return type_names[static_cast<std::uint8_t>(x)];
}

/// The same the other way round; nothing where there is no such type.
constexpr std::optional<type_tag> tag_named(std::string_view name) noexcept {
  for (std::size_t i = 0; i < type_names.size(); ++i)
    if (type_names[i] == name)
      return static_cast<type_tag>(i);
  return {};
}

/// Of a column, e.g. `set[addr]`; `subtype` is that of the members of a container.
inline std::string type_name(type_tag type, type_tag subtype) {
  const auto member = std::string{name_of(subtype)};
  if (type == type_tag::table)
    return "set[" + member + "]";
  if (type == type_tag::vector)
    return "vector[" + member + "]";
  return std::string{name_of(type)};
}

/// Whether a value of a log, or a member of one that is a container, can be of this type.
constexpr bool can_be_logged(type_tag x) noexcept {
  switch (x) {
  case type_tag::boolean:
  case type_tag::integer:
  case type_tag::count:
  case type_tag::real:
  case type_tag::time:
  case type_tag::interval:
  case type_tag::string:
  case type_tag::enumeration:
  case type_tag::port:
  case type_tag::address:
  case type_tag::subnet:
  case type_tag::func:
  case type_tag::file:
    return true;
  default:
    return false;
  }
}

} // namespace pubsub::zeek
