// Messages of the WebSocket API of Zeek clusters (JSON, version 1), as its server and its clients
// read and write them. Pure: no sockets.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <pubsub/data_view.hpp>
#include <pubsub/data_writer.hpp>
#include <pubsub/error.hpp>

#include "format/json_messages.hpp"

namespace pubsub::cluster {

/// What a client asks for when it connects; the server takes nothing else.
inline constexpr std::string_view websocket_path = "/v1/messages/json";
/// The HTTP header by which a client may say what it is.
inline constexpr std::string_view application_name_header = "X-Application-Name";
/// Whether the value of that header is one: letters, digits and `/_.=:*@-`, at least one.
bool is_application_name(std::string_view text) noexcept;

/// The codes of errors.
namespace websocket_code {
inline constexpr std::string_view deserialization_failed = "deserialization_failed";
inline constexpr std::string_view invalid_uri = "invalid_uri";
inline constexpr std::string_view invalid_application_name = "invalid_application_name";
} // namespace websocket_code

/// A data message: an event on a topic.
struct websocket_event {
  std::string topic;
  data_writer value; ///< a Zeek event, valid
};

/// What the server says once all that the client subscribes to will come.
struct websocket_ack {
  std::string endpoint; ///< the id that the client has there
  std::string version;  ///< of the server
  friend bool operator==(const websocket_ack&, const websocket_ack&) = default;
};

/// What the server says when something is wrong.
struct websocket_error {
  std::string code;
  std::string context;
  friend bool operator==(const websocket_error&, const websocket_error&) = default;
};

// -- what clients send
// -----------------------------------------------------------------------------

/// The topic prefixes in the first message of a client. Errors: invalid_json (no array), type_clash
/// (a member that is no string); the context is what Zeek says in its error.
expected<std::vector<std::string>> read_subscriptions(std::string_view text);
/// That message.
std::string subscriptions_message(const std::vector<std::string>& prefixes);

/// Reads an event, with the tolerance of Zeek: the member `type` may be anything, as may the kind
/// of message in the envelope, and metadata that is malformed is left out. `out` keeps its memory;
/// what it holds after an error means nothing. Errors: invalid_json, type_clash (no topic),
/// invalid_message (no event); the context is what Zeek says in its error.
expected<void> read_event(std::string_view text, websocket_event& out);

// -- what the server sends
// -------------------------------------------------------------------------

using websocket_message = std::variant<websocket_event, websocket_ack, websocket_error>;

/// Reads any message of a server; what has another `type`, or none, is read as an event. The text
/// of an error may be in `message` as well as in `context`. Errors: those of `read_event`.
expected<websocket_message> read_server_message(std::string_view text);

std::string ack_message(const websocket_ack& x);
std::string error_message(const websocket_error& x);

// -- what both send
// --------------------------------------------------------------------------------

/// Appends the data message. False where the value is no event: then nothing is appended.
bool append_event(std::string& out, std::string_view topic, const data_view& value,
                  json_strings form = json_strings::utf8);

} // namespace pubsub::cluster
