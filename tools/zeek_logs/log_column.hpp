// The columns of a TSV log: from a type name and text to a value.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <pubsub/data.hpp>

namespace pubsub::zeek {

/// How the log writes what is not an ordinary value.
struct log_notation {
  std::string separator = "\t";
  std::string set_separator = ",";
  std::string empty_field = "(empty)";
  std::string unset_field = "-";
};

enum class scalar_type : std::uint8_t {
  boolean,
  count,
  integer,
  real,
  time,
  interval,
  string,
  address,
  subnet,
  port,
  enumeration,
};

enum class container_type : std::uint8_t { scalar, set, vector };

struct column_type {
  container_type container = container_type::scalar;
  scalar_type element = scalar_type::string;
};

/// `count`, `set[string]`, `vector[addr]`, ... Nothing for a type logs cannot hold.
std::optional<column_type> parse_column_type(std::string_view name);

/// Whether a value can stand in such a column: unset, of its type, or a container whose members
/// are. Columns of strings and of enums take either.
bool is_of_type(const data& x, column_type type);

/// The value of a column; nothing if the text is not of its type. `protocol` is given to ports.
std::optional<data> parse_column(std::string_view text, column_type type,
                                 const log_notation& notation, transport protocol);

} // namespace pubsub::zeek
