// Data to bytes and back: Broker's bin::v1 and json::v1 (broker-data, sections 2 and 3).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/data.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/error.hpp>

namespace pubsub {

/// Appends `x` in bin::v1 to `out`. Infinities and NaN get Broker's deviating bit patterns,
/// subnormal reals become zero (broker-data, section 2.1): keep them out of sets and table keys,
/// where two of them would coincide and receivers refuse the message. Errors: limit_exceeded for a
/// string or container of 2^32 or more elements; `out` is then unchanged.
expected<void> encode_binary(const data& x, std::vector<std::byte>& out);
/// As above into a new buffer.
expected<std::vector<std::byte>> encode_binary(const data& x);
/// Reads exactly one value. Errors: as data_view::make.
expected<data> decode_binary(std::span<const std::byte> bytes, const decode_limits& limits = {});

/// Renders `{"@data-type":...,"data":...}` with Broker's exact spelling: reals with six decimals,
/// times truncated to milliseconds, bytes of strings raw (broker-data, section 3). A view renders
/// members of sets and tables in encoded order.
std::string to_json(const data& x);
std::string to_json(const data_view& x);
/// A data message: `{"type":"data-message","topic":...,"@data-type":...,"data":...}`.
std::string to_json(std::string_view topic, const data_view& x);

/// Needs the component pubsub::json. Parses one json::v1 value with Broker's tolerance (raw control
/// characters, `\v`, any bytes in strings, `nan`, signs and radix prefixes on numbers). Beyond
/// Broker it reads `inf` and `-inf`, large reals in full, raw NUL, CR as white space and `\/` as a
/// slash. Errors: invalid_json (syntax), type_clash (shape), duplicate_key, limit_exceeded; the
/// context says what was expected where.
expected<data> from_json(std::string_view text, const decode_limits& limits = {});

/// A topic and its value, as parsed from a JSON data message.
struct topic_and_data {
  std::string topic;
  data value;
};
/// Needs the component pubsub::json. Parses a data message; a missing or non-string topic gives the
/// topic `<$>`. Errors: as from_json.
expected<topic_and_data> message_from_json(std::string_view text, const decode_limits& limits = {});

} // namespace pubsub
