// Rows as text: columns, their order, and how numbers are written.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json_object.hpp"
#include "top/network_model.hpp"

namespace pubsub::tool {

enum class view : std::uint8_t { nodes, links, subscribers };

enum class column : std::uint8_t {
  name,
  state,
  up,
  links,
  clients,
  round_trip,
  in,
  out,
  bytes_in,
  bytes_out,
  credit_waits,
  queue,
  full,
  drops,
  dropped,
  why,
};

struct column_info {
  column what;
  std::string_view name;   ///< as `--sort` takes it
  std::string_view header; ///< above the column
  std::size_t width;       ///< at least; that of text may grow
  bool text;               ///< to the left, and sorted from a to z
};

/// The columns of a view, from left to right.
std::vector<column_info> columns_of(view which);
/// Those that fit into a width: the least important ones are left out, and `name` takes what is
/// left.
std::vector<column_info> columns_for(view which, std::size_t width);
/// The names of all columns.
std::vector<std::string> column_names();
/// One of these.
column column_named(std::string_view name);
std::string_view name_of(column what);

enum class direction : std::uint8_t { usual, reversed };

/// Puts rows into order: text from a to z, the worst state first, and the largest number first.
void sort_rows(std::vector<row>& rows, column by, direction which);

/// What stands in a cell; `-` where it is not known.
std::string cell(const row& of, column what);
/// A row of cells, each as wide as its column.
std::string line_of(const row& of, std::span<const column_info> columns);
std::string header_of(std::span<const column_info> columns);

/// All columns and rows of a view, one line each, with nothing cut.
std::string plain_table(view which, const std::vector<row>& rows);
/// A row of a view as members of an object; those that are not known are left out.
json_object json_of(view which, const row& of);

} // namespace pubsub::tool
