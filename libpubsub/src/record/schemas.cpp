// SPDX-License-Identifier: BSD-3-Clause
#include "record/schemas.hpp"

#include <pubsub/record/recorded_message.hpp>

#include "record/mcap.hpp"

namespace pubsub::record {

namespace {

// For people who find a file and nothing else.
constexpr std::string_view binary_text =
    R"(One value of Zeek's data model in Broker's format bin::v1. Integers are big-endian.
A byte of type, then: 0 none; 1 boolean, one byte; 2 count, 8 bytes; 3 integer, 8 bytes;
4 real, 8 bytes (IEEE 754); 5 string; 6 address, 16 bytes (IPv4 as ::ffff:a.b.c.d);
7 subnet, an address and a byte of length (IPv4: 96 and its own); 8 port, 2 bytes and a byte of protocol
(1 TCP, 2 UDP, 3 ICMP); 9 timestamp, 8 bytes of nanoseconds since 1970; 10 timespan, 8 bytes of nanoseconds; 11 enum, as string;
12 set, 13 table, 14 vector: a size, then members, or keys and values in turn, each a value.
A string is a size and so many bytes. Sizes are unsigned LEB128.
)";

constexpr std::string_view json_text = R"({
  "title": "pubsub.json_message",
  "description": "A message as json::v1, as Zeek's WebSocket API sends it.",
  "type": "object",
  "properties": {
    "type": {"const": "data-message"},
    "topic": {"type": "string"},
    "@data-type": {
      "enum": ["none", "boolean", "count", "integer", "real", "string", "address", "subnet", "port", "timestamp",
               "timespan", "enum-value", "set", "table", "vector"]
    },
    "data": {"description": "Members of a set or vector are objects with @data-type and data; of a table, with key and value."}
  },
  "required": ["topic", "@data-type", "data"]
}
)";

mcap::schema describe(std::uint16_t id) {
  const bool binary = id == binary_schema;
  return {id, binary ? "pubsub.data" : "pubsub.json_message",
          binary ? binary_encoding : "jsonschema",
          std::as_bytes(std::span{binary ? binary_text : json_text})};
}

} // namespace

std::uint16_t schema_of(std::string_view encoding) noexcept {
  if (encoding == binary_encoding)
    return binary_schema;
  return encoding == json_encoding ? json_schema : no_schema;
}

void append_schema(byte_buffer& out, std::uint16_t id) {
  if (id != no_schema)
    mcap::append(out, describe(id));
}

} // namespace pubsub::record
