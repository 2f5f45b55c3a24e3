// Reads the text of a condition.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include <pubsub/error.hpp>

#include "filter/expression.hpp"

namespace pubsub::conditions {

/// The expression in its canonical form: what is associative is flat, members of sets are sorted
/// and there once. Errors: as `condition::make`.
expected<expression> parse(std::string_view text);
/// Its text, which `parse` makes an equal expression of.
std::string to_text(const expression& x);
/// The text of a pattern, and of what is compared.
std::string to_text(const pattern& x);
std::string to_text(const field& x);

} // namespace pubsub::conditions
