// How run-time failures are reported: an errc, a sentence of context, and expected<T>.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <pubsub/export.hpp>

namespace pubsub {

/// What went wrong. Values below 64 are the numbers Broker puts on the wire and into its error
/// events; only those this library can produce or receive by name
/// are spelled out here. Values from 64 on are this library's own; among its nodes they travel in
/// the replies of remote operations, and to Broker peers never.
enum class errc : std::uint8_t {
  none = 0,                             ///< no error
  unspecified = 1,                      ///< the peer gave no reason
  peer_incompatible = 2,                ///< no common protocol version; update one side
  peer_invalid = 3,                     ///< unpeer of an address or id that is not a peer
  peer_unavailable = 4,                 ///< could not connect or finish the handshake
  peer_disconnect_during_handshake = 5, ///< the connection closed before peering was complete
  peer_timeout = 6,                     ///< the peer did not answer in time
  request_timeout = 10,                 ///< an operation did not finish before its deadline
  type_clash = 11,                      ///< a value has another type than the one asked for
  invalid_data = 12,                    ///< bytes or text do not form a valid value
  cannot_open_file = 15,                ///< a file cannot be opened for reading
  cannot_write_file = 16,               ///< a file cannot be opened for writing
  end_of_file = 18,                     ///< input ended inside a value
  invalid_tag = 19,                     ///< an unknown type tag
  invalid_message = 20,                 ///< a frame that is not a valid message
  conversion_failed = 22,               ///< text does not denote a value of the wanted type
  shutting_down = 28,                   ///< the endpoint is closing
  unexpected_handshake_message = 31,    ///< a handshake message out of order
  invalid_handshake_state = 32,         ///< the handshake cannot go on
  no_path_to_peer = 33,                 ///< the addressed endpoint is not reachable
  serialization_failed = 36,            ///< a value cannot be written in this format
  deserialization_failed = 37,          ///< bytes cannot be read in this format
  wrong_magic_number = 38,              ///< the other side does not speak this protocol
  redundant_connection = 39,            ///< a second connection to a peer that is already there
  logic_error = 40,                     ///< the peer broke a protocol rule
  invalid_json = 41,                    ///< text is not JSON
  invalid_argument = 64,                ///< a URI, option or topic that cannot be used
  address_in_use = 65,                  ///< another process listens on this address
  cannot_listen = 66,                   ///< the address cannot be bound
  limit_exceeded = 67,                  ///< a size, depth or count beyond the configured limit
  duplicate_key = 68,                   ///< a set member or table key that occurs twice
  not_supported = 69,                   ///< this build or format cannot do that
  tls_failed = 70,                      ///< no TLS with this peer, or only one side uses it
  no_such_service = 71,                 ///< no instance within reach serves this name
  no_such_operation = 72,               ///< the service has no operation of this name
  operation_failed = 73,                ///< the handler of a remote operation threw an exception
  service_lost = 74,                    ///< who was asked is gone: it may have done it or not
  cancelled = 75,                       ///< the caller has given it up
  denied = 76,                          ///< the peer may not do that
};

/// The name of `code` as Broker spells it in error events, e.g. `peer_unavailable`.
PUBSUB_EXPORT std::string_view to_string(errc code) noexcept;

/// One sentence for people: when `code` occurs and what to do about it.
PUBSUB_EXPORT std::string_view describe(errc code) noexcept;

/// An error code with the context in which it occurred. Cheap to move; copies copy the text.
class PUBSUB_EXPORT error {
public:
  error() = default;
  /// Without context the message is the description of the code.
  error(errc code, std::string context = {}) : code_(code), context_(std::move(context)) {}

  /// What went wrong; `none` if nothing did.
  errc code() const noexcept { return code_; }
  /// File and line, address, or byte offset: where to look.
  const std::string& context() const noexcept { return context_; }
  /// `<name>: <context>`, or the description of the code where there is no context.
  std::string message() const;

  explicit operator bool() const noexcept { return code_ != errc::none; }
  friend bool operator==(const error& x, errc y) noexcept { return x.code_ == y; }

private:
  errc code_ = errc::none;
  std::string context_;
};

/// A value or the error that kept it from being made. Accessing the wrong one is a caller's bug
/// (assert in debug builds); test with `if (x)` first.
template <class T>
class [[nodiscard]] expected {
public:
  expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  expected(pubsub::error err) : state_(std::in_place_index<1>, std::move(err)) {}
  expected(errc code) : state_(std::in_place_index<1>, pubsub::error{code}) {}

  explicit operator bool() const noexcept { return state_.index() == 0; }
  bool has_value() const noexcept { return state_.index() == 0; }

  T& operator*() & { return value_ref(); }
  const T& operator*() const& { return value_ref(); }
  T&& operator*() && { return std::move(value_ref()); }
  T* operator->() { return &value_ref(); }
  const T* operator->() const { return &value_ref(); }
  T value_or(T fallback) const { return has_value() ? value_ref() : std::move(fallback); }

  const pubsub::error& error() const {
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }

private:
  T& value_ref() {
    assert(has_value());
    return *std::get_if<0>(&state_);
  }
  const T& value_ref() const {
    assert(has_value());
    return *std::get_if<0>(&state_);
  }

  std::variant<T, pubsub::error> state_;
};

/// Success, or the error that prevented it.
template <>
class [[nodiscard]] expected<void> {
public:
  expected() = default;
  expected(pubsub::error err) : error_(std::move(err)) {}
  expected(errc code) : error_(code) {}

  explicit operator bool() const noexcept { return !error_; }
  bool has_value() const noexcept { return !error_; }
  const pubsub::error& error() const noexcept { return error_; }

private:
  pubsub::error error_;
};

} // namespace pubsub
