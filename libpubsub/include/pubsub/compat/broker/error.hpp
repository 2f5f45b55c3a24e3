// Broker's errors, and `expected`.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <pubsub/compat/broker/convert.hpp>
#include <pubsub/compat/broker/data_functions.hpp>
#include <pubsub/compat/broker/peer.hpp>

namespace broker {
inline namespace over_pubsub {

/// What went wrong; the numbers are those on the wire.
enum class ec : std::uint8_t {
  none,
  unspecified,
  peer_incompatible,
  peer_invalid,
  peer_unavailable,
  peer_disconnect_during_handshake,
  peer_timeout,
  master_exists,
  no_such_master,
  no_such_key,
  request_timeout,
  type_clash,
  invalid_data,
  backend_failure,
  stale_data,
  cannot_open_file,
  cannot_write_file,
  invalid_topic_key,
  end_of_file,
  invalid_tag,
  invalid_message,
  invalid_status,
  conversion_failed,
  consumer_exists,
  connection_timeout,
  bad_member_function_call,
  repeated_request_id,
  broken_clone,
  shutting_down,
  invalid_peering_request,
  repeated_peering_handshake_request,
  unexpected_handshake_message,
  invalid_handshake_state,
  no_path_to_peer,
  no_connector_available,
  cannot_open_resource,
  serialization_failed,
  deserialization_failed,
  wrong_magic_number,
  redundant_connection,
  logic_error,
  invalid_json,
};

namespace detail {

inline constexpr const char* ec_names[] = {
    "none",
    "unspecified",
    "peer_incompatible",
    "peer_invalid",
    "peer_unavailable",
    "peer_disconnect_during_handshake",
    "peer_timeout",
    "master_exists",
    "no_such_master",
    "no_such_key",
    "request_timeout",
    "type_clash",
    "invalid_data",
    "backend_failure",
    "stale_data",
    "cannot_open_file",
    "cannot_write_file",
    "invalid_topic_key",
    "end_of_file",
    "invalid_tag",
    "invalid_message",
    "invalid_status",
    "conversion_failed",
    "consumer_exists",
    "connection_timeout",
    "bad_member_function_call",
    "repeated_request_id",
    "broken_clone",
    "shutting_down",
    "invalid_peering_request",
    "repeated_peering_handshake_request",
    "unexpected_handshake_message",
    "invalid_handshake_state",
    "no_path_to_peer",
    "no_connector_available",
    "cannot_open_resource",
    "serialization_failed",
    "deserialization_failed",
    "wrong_magic_number",
    "redundant_connection",
    "logic_error",
    "invalid_json",
};
static_assert(std::size(ec_names) == static_cast<std::size_t>(ec::invalid_json) + 1);

/// Finds the enumerator whose name is at its number.
template <class Enum, std::size_t Size>
bool find_name(const char* const (&names)[Size], std::string_view name, Enum& to) {
  for (std::size_t i = 0; i < Size; ++i)
    if (name == names[i]) {
      to = static_cast<Enum>(i);
      return true;
    }
  return false;
}

} // namespace detail

inline const char* to_string(ec code) noexcept {
  const auto index = static_cast<std::size_t>(code);
  return index < std::size(detail::ec_names) ? detail::ec_names[index] : "invalid";
}
inline std::string_view enum_str(ec code) noexcept {
  return to_string(code);
}
inline bool convert(ec from, std::string& to) {
  to = to_string(from);
  return true;
}
inline bool convert(const std::string& from, ec& to) noexcept {
  return detail::find_name(detail::ec_names, from, to);
}
template <std::same_as<data> T>
bool convert(const T& from, ec& to) noexcept {
  const auto* name = get_if<enum_value>(from);
  return name != nullptr && convert(name->name, to);
}

/// A code, a sentence, and whom it is about. Two are equal if their codes are.
class error {
public:
  error() = default;
  error(ec code) : code_(code) {}
  error(ec code, std::string description) : code_(code), message_(std::move(description)) {}
  error(ec code, endpoint_info info, std::string description)
      : code_(code), context_(std::move(info)), message_(std::move(description)) {}

  bool valid() const noexcept { return code_ != ec::none; }
  explicit operator bool() const noexcept { return valid(); }
  /// The number of an `ec`; 0 for no error.
  std::uint8_t code() const noexcept { return static_cast<std::uint8_t>(code_); }
  /// Null where there is none.
  const std::string* message() const noexcept { return message_ ? &*message_ : nullptr; }
  /// Null where it is about no peer.
  const endpoint_info* context() const noexcept { return context_ ? &*context_ : nullptr; }

  friend bool operator==(const error& x, const error& y) noexcept { return x.code_ == y.code_; }
  friend bool operator==(const error& x, ec y) noexcept { return x.code_ == y; }

private:
  ec code_ = ec::none;
  std::optional<endpoint_info> context_;
  std::optional<std::string> message_;
};

template <class... Ts>
error make_error(ec code, Ts&&... xs) {
  return {code, std::forward<Ts>(xs)...};
}

namespace detail {

inline std::string quoted(std::string_view text) {
  std::string result{'"'};
  for (const auto c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += c;
  }
  return result += '"';
}

} // namespace detail

/// `peer_unavailable(endpoint_info(<id>, *127.0.0.1:9999), "unable to connect to remote peer")`.
template <std::same_as<error> T>
bool convert(const T& from, std::string& to) {
  to = to_string(static_cast<ec>(from.code()));
  if (from.message() == nullptr)
    return true;
  to += '(';
  if (from.context() != nullptr)
    to += to_string(*from.context()) + ", ";
  to += detail::quoted(*from.message()) + ')';
  return true;
}

/// A value or an error. `value` and its like throw bad_variant_access where there is none; `error`
/// is then no error.
template <class T>
class expected {
public:
  using value_type = T;

  expected(T value) : state_(std::move(value)) {}
  expected(over_pubsub::error err) : state_(std::move(err)) {}
  expected(ec code) : state_(over_pubsub::error{code}) {}
  template <std::convertible_to<T> U>
  requires(!std::same_as<std::remove_cvref_t<U>, expected> &&
           !detail::is_one_of<std::remove_cvref_t<U>, T, over_pubsub::error, ec>)
      expected(U&& value)
      : state_(T(std::forward<U>(value))) {}

  bool has_value() const noexcept { return state_.index() == 0; }
  bool engaged() const noexcept { return has_value(); }
  explicit operator bool() const noexcept { return has_value(); }
  T& value() { return held(*this); }
  const T& value() const { return held(*this); }
  const T& cvalue() const { return held(*this); }
  T& operator*() { return held(*this); }
  const T& operator*() const { return held(*this); }
  T* operator->() { return &held(*this); }
  const T* operator->() const { return &held(*this); }
  const over_pubsub::error& error() const noexcept {
    static const over_pubsub::error no_error;
    const auto* err = std::get_if<over_pubsub::error>(&state_);
    return err != nullptr ? *err : no_error;
  }

  /// With another, with an error, and with a value, which no error is equal to.
  friend bool operator==(const expected& x, const expected& y) {
    return x.has_value() && y.has_value() ? *x == *y
                                          : !x.has_value() && !y.has_value() && x == y.error();
  }
  friend bool operator==(const expected& x, const over_pubsub::error& y) {
    return !x.has_value() && x.error() == y;
  }
  friend bool operator==(const expected& x, ec y) { return x == over_pubsub::error{y}; }
  template <std::convertible_to<T> U>
  requires(!detail::is_one_of<U, expected, over_pubsub::error, ec>) friend bool
  operator==(const expected& x, const U& y) {
    return x.has_value() && *x == T(y);
  }

private:
  template <class Self>
  static auto& held(Self& self) {
    if (auto* value = std::get_if<T>(&self.state_))
      return *value;
    throw bad_variant_access{};
  }

  std::variant<T, over_pubsub::error> state_;
};

template <>
class expected<void> {
public:
  expected() = default;
  expected(over_pubsub::error err) : error_(std::move(err)) {}
  expected(ec code) : error_(code) {}
  explicit operator bool() const noexcept { return !error_; }
  const over_pubsub::error& error() const noexcept { return error_; }

private:
  over_pubsub::error error_;
};

/// The value as text, or the error behind an exclamation mark.
template <class T>
std::string to_string(const expected<T>& x) {
  if constexpr (std::same_as<T, void>)
    return x ? "unit" : '!' + to_string(x.error());
  else
    return x ? to_string(*x) : '!' + to_string(x.error());
}

} // namespace over_pubsub
} // namespace broker
