// Data to text and back: Broker's json::v1.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include <pubsub/data.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>

namespace pubsub {

/// Renders `{"@data-type":...,"data":...}` with Broker's exact spelling: reals with six decimals,
/// times truncated to milliseconds, bytes of strings raw. A view renders
/// members of sets and tables in encoded order.
PUBSUB_EXPORT std::string to_json(const data& x);
PUBSUB_EXPORT std::string to_json(const data_view& x);
/// A data message: `{"type":"data-message","topic":...,"@data-type":...,"data":...}`.
PUBSUB_EXPORT std::string to_json(std::string_view topic, const data_view& x);

/// Needs the component pubsub::json. Parses one json::v1 value with Broker's tolerance (raw control
/// characters, `\v`, any bytes in strings, `nan`, signs and radix prefixes on numbers). Beyond
/// Broker it reads `inf` and `-inf`, large reals in full, raw NUL, CR as white space and `\/` as a
/// slash. Errors: invalid_json (syntax), type_clash (shape), duplicate_key, limit_exceeded; the
/// context says what was expected where.
PUBSUB_EXPORT expected<data> from_json(std::string_view text, const decode_limits& limits = {});

/// A topic and its value, as parsed from a JSON data message.
struct topic_and_data {
  std::string topic;
  data value;
};
/// Needs the component pubsub::json. Parses a data message; a missing or non-string topic gives the
/// topic `<$>`. Errors: as from_json.
PUBSUB_EXPORT expected<topic_and_data> message_from_json(std::string_view text,
                                                         const decode_limits& limits = {});

} // namespace pubsub
