// Broker's dialect of JSON made strict, so that a standard parser can read it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pubsub {

/// First character of the JSON string that stands for `nan`, `-nan`, `inf` or `-inf` in what
/// strict_json_from returns: U+0100, which no rewritten string contains.
inline constexpr std::string_view special_real_mark = "\xC4\x80";

/// Rewrites what Broker writes or tolerates beyond RFC 8259: raw control
/// characters, `\v` and arbitrary bytes in strings; signs, radix prefixes, `.5` and `5.` in
/// numbers; special reals. Every byte of a string, escaped or not, becomes the character of the
/// same number, U+0000 to U+00FF: undo with bytes_from_latin1. Nothing where the text is beyond
/// repair; otherwise the result may still be malformed and needs a parser.
std::optional<std::string> strict_json_from(std::string_view text);

/// The bytes whose numbers are the characters of `text`, which is UTF-8 with no character beyond
/// U+00FF.
std::string bytes_from_latin1(std::string_view text);

} // namespace pubsub
