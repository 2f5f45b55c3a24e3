// Literals in the text of a condition: read, and written in one spelling.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "filter/text_cursor.hpp"

namespace pubsub::conditions {

/// Words of the language, which are no names unless quoted by backticks.
bool is_reserved(std::string_view word) noexcept;

/// Reads `"..."` or `` `...` `` up to the closing `quote`, of which the opening one is next.
bool read_quoted(text_cursor& in, char quote, std::string& out);
/// Reads `/.../`, of which the first slash is next; `\/` stands for a slash in it.
bool read_expression(text_cursor& in, std::string& out);
/// Reads a literal, after blanks; says where it stands.
bool read_literal(text_cursor& in, data& out, text_place& place);
/// Reads the name of a column, after blanks: bare or in backticks.
bool read_name(text_cursor& in, std::string& out);

/// The literals give the value back, whatever it is: no containers and no NaN.
void append_literal(std::string& out, const data& x);
void append_quoted(std::string& out, std::string_view text, char quote);
void append_expression(std::string& out, std::string_view text);
void append_name(std::string& out, std::string_view name);

} // namespace pubsub::conditions
