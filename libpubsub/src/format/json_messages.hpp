// JSON beside values of the data model: messages from and to encoded bytes, and plain lists and
// objects of strings.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/data_view.hpp>
#include <pubsub/data_writer.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>

namespace pubsub {

/// How bytes of strings that JSON does not know are written.
enum class json_strings : std::uint8_t {
  /// So that any parser reads them: control characters are escaped, and what is not UTF-8 becomes
  /// U+FFFD.
  utf8,
  /// As `to_json` does, so that nothing is lost. A WebSocket takes such a text in a binary frame
  /// only, which Zeek reads.
  bytes,
};

/// Appends what `to_json` makes of a message. Special reals stay `nan`, `inf` and `-inf`, which
/// JSON does not know.
PUBSUB_EXPORT void append_json_message(std::string& out, std::string_view topic, const data_view& x,
                                       json_strings form);

// The rest needs the component pubsub::json.

/// Reads what `message_from_json` reads into encoded bytes that are valid; both arguments keep
/// their memory, and mean nothing after an error. Errors: those of `message_from_json`.
PUBSUB_EXPORT expected<void> encode_json_message(std::string_view text, std::string& topic,
                                                 data_writer& value,
                                                 const decode_limits& limits = {});

/// The members of an array of strings. Errors: invalid_json (no JSON, or no array), type_clash (a
/// member that is no string).
PUBSUB_EXPORT expected<std::vector<std::string>> json_strings_from(std::string_view text);

/// The members of an object that are strings; nothing if the text is none.
PUBSUB_EXPORT std::optional<std::map<std::string, std::string, std::less<>>>
json_string_members_from(std::string_view text);

} // namespace pubsub
