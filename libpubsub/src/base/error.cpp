// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/error.hpp>

#include <array>

namespace pubsub {

namespace {

struct entry {
  std::string_view name;
  std::string_view sentence;
};

constexpr std::string_view from_peer = "A Broker data store reported this; see the peer's log.";

// Indexed by number: all of Broker's error codes, including those that only a Broker peer can send.
constexpr std::array<entry, 42> broker_codes{{
    {"none", "No error."},
    {"unspecified", "The peer gave no reason; look into its log."},
    {"peer_incompatible", "There is no common protocol version; update the older side."},
    {"peer_invalid", "The address or id is not one of a current peer; check the list of peers."},
    {"peer_unavailable", "The peer could not be reached; check that it listens and that both sides "
                         "use the same TLS settings."},
    {"peer_disconnect_during_handshake",
     "The connection closed before peering was complete; check TLS settings and versions."},
    {"peer_timeout", "The peer did not answer in time; check that it is alive."},
    {"master_exists", from_peer},
    {"no_such_master", from_peer},
    {"no_such_key", from_peer},
    {"request_timeout", "The operation did not finish before its deadline; retry or allow more."},
    {"type_clash", "A value has another type than the one asked for; check its type first."},
    {"invalid_data", "Bytes or text do not form a valid value; the sender is at fault."},
    {"backend_failure", from_peer},
    {"stale_data", from_peer},
    {"cannot_open_file", "A file cannot be opened for reading; check path and permissions."},
    {"cannot_write_file", "A file cannot be written; check path, permissions and free space."},
    {"invalid_topic_key", from_peer},
    {"end_of_file", "Input ended inside a value; it was cut short."},
    {"invalid_tag", "A value starts with an unknown type tag; the sender is at fault."},
    {"invalid_message", "A frame is not a valid message; the sender is at fault."},
    {"invalid_status", "The peer sent a status that is not valid."},
    {"conversion_failed", "The text does not denote a value of the wanted type; check its form."},
    {"consumer_exists", from_peer},
    {"connection_timeout", "A connection was given up because nothing arrived in time."},
    {"bad_member_function_call", "The peer reported a bug in the program that runs it."},
    {"repeated_request_id", from_peer},
    {"broken_clone", from_peer},
    {"shutting_down", "The endpoint is closing; nothing can be started any more."},
    {"invalid_peering_request", "The peer refused a request to peer."},
    {"repeated_peering_handshake_request", "The peer asked to peer although it already did."},
    {"unexpected_handshake_message",
     "A handshake message came out of order; the peer is at fault."},
    {"invalid_handshake_state", "The handshake cannot go on; connect again."},
    {"no_path_to_peer", "The addressed endpoint is not reachable from here; check the peerings."},
    {"no_connector_available", "The peer cannot open connections."},
    {"cannot_open_resource", "The peer could not open a file or socket it needs."},
    {"serialization_failed", "The value cannot be written in this format."},
    {"deserialization_failed", "The bytes cannot be read in this format; the sender is at fault."},
    {"wrong_magic_number", "The other side does not speak this protocol; check address and port."},
    {"redundant_connection", "There is already a connection to this peer; nothing is to be done."},
    {"logic_error", "The peer broke a protocol rule; the connection was closed."},
    {"invalid_json", "The text is not JSON; the context says where it goes wrong."},
}};

constexpr std::array<entry, 13> own_codes{{
    {"invalid_argument", "A URI, option or topic cannot be used; the context says which."},
    {"address_in_use", "Another process listens on this address; choose another port."},
    {"cannot_listen", "The address cannot be bound; check that it exists on this host."},
    {"limit_exceeded", "A size, depth or count is beyond the configured limit."},
    {"duplicate_key", "A set member or table key occurs twice; the sender is at fault."},
    {"not_supported", "This build or format cannot do that; the context says what is missing."},
    {"tls_failed", "TLS could not be agreed on with the peer; both sides need the same mode, and "
                   "certificates the other accepts."},
    {"no_such_service",
     "No instance within reach serves this name; start the service or look at the "
     "peerings."},
    {"no_such_operation", "The service has no operation of this name; the context says which it "
                          "has."},
    {"operation_failed", "The handler of the operation threw an exception; the context has its "
                         "type and text."},
    {"service_lost", "The instance that was asked is gone, and may have done it or not; declare "
                     "the operation idempotent if it can be repeated."},
    {"cancelled", "The call was given up before it was done."},
    {"denied", "The peer may not do that: its id belongs to another certificate."},
}};

constexpr entry unknown{"unknown", "The code is not known to this version."};

constexpr std::size_t first_own_code = 64;

const entry& lookup(errc code) noexcept {
  const auto number = static_cast<std::size_t>(code);
  if (number < broker_codes.size())
    return broker_codes[number];
  if (number >= first_own_code && number - first_own_code < own_codes.size())
    return own_codes[number - first_own_code];
  return unknown;
}

} // namespace

std::string_view to_string(errc code) noexcept {
  return lookup(code).name;
}

std::string_view describe(errc code) noexcept {
  return lookup(code).sentence;
}

std::string error::message() const {
  if (context_.empty())
    return std::string{describe(code_)};
  std::string text{to_string(code_)};
  text += ": ";
  text += context_;
  return text;
}

} // namespace pubsub
