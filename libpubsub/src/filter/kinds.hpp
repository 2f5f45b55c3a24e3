// What can be compared with what: the types of columns and of literals.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "filter/expression.hpp"
#include "filter/scalar.hpp"

namespace pubsub::conditions {

/// What values of a column may be: its own kinds, or those of its members.
struct column_kinds {
  bool known = false;
  bool container = false;
  bool whole = false;   ///< numbers without a fraction
  bool natural = false; ///< and without a sign
  kind_set kinds = any_kind;
};

/// Of a type as Zeek writes it, e.g. `count` or `set[addr]`. Any kind where it is not known.
column_kinds kinds_of_type(std::string_view type) noexcept;
/// What may be equal to, lie in, begin with, or match the pattern.
kind_set kinds_of(const pattern& x) noexcept;
/// The kinds that have an order.
inline constexpr kind_set ordered_kinds = only(scalar_kind::number) | only(scalar_kind::text) |
                                          only(scalar_kind::host) | only(scalar_kind::service) |
                                          only(scalar_kind::moment) | only(scalar_kind::duration);

/// For errors: `a number`, `a string or the label of an enum`.
std::string name_of(kind_set x);

} // namespace pubsub::conditions
