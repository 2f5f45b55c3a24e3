// The numbers of Zeek's types, as log messages carry them.
#pragma once

#include <array>
#include <cstdint>
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

} // namespace pubsub::zeek
