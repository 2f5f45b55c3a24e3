// What happens to Broker's peers: status, and how it is told apart from errors.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include <pubsub/compat/broker/error.hpp>
#include <pubsub/compat/broker/peer.hpp>
#include <pubsub/status.hpp>

namespace broker {
inline namespace over_pubsub {

/// What happened to a peer.
enum class sc : std::uint8_t {
  unspecified,
  peer_added,
  peer_removed,
  peer_lost,
  endpoint_discovered,
  endpoint_unreachable,
};

namespace detail {
inline constexpr const char* sc_names[] = {"unspecified",         "peer_added",
                                           "peer_removed",        "peer_lost",
                                           "endpoint_discovered", "endpoint_unreachable"};
} // namespace detail

inline const char* to_string(sc code) noexcept {
  const auto index = static_cast<std::size_t>(code);
  return index < std::size(detail::sc_names) ? detail::sc_names[index] : "invalid";
}
inline bool convert(sc from, std::string& to) {
  to = to_string(from);
  return true;
}
inline bool convert(const std::string& from, sc& to) noexcept {
  return detail::find_name(detail::sc_names, from, to);
}
template <std::same_as<data> T>
bool convert(const T& from, sc& to) noexcept {
  const auto* name = get_if<enum_value>(from);
  return name != nullptr && convert(name->name, to);
}

/// A change of a peering. Two are equal if their codes are.
class status {
public:
  status() = default;
  template <sc Code>
  static status make(endpoint_info info, std::string msg) {
    static_assert(Code != sc::unspecified);
    return {Code, std::move(info), std::move(msg)};
  }
  template <sc Code>
  static status make(endpoint_id node, std::string msg) {
    return make<Code>(endpoint_info{node}, std::move(msg));
  }

  sc code() const noexcept { return code_; }
  /// The endpoint concerned; null for `sc::unspecified`.
  template <std::same_as<endpoint_info> T = endpoint_info>
  const T* context() const {
    return code_ != sc::unspecified ? &context_ : nullptr;
  }
  const std::string* message() const noexcept { return &message_; }

  friend bool operator==(const status& x, const status& y) noexcept { return x.code_ == y.code_; }
  friend bool operator==(const status& x, sc y) noexcept { return x.code_ == y; }

  status(sc code, endpoint_info info, std::string msg)
      : code_(code), context_(std::move(info)), message_(std::move(msg)) {}

private:
  sc code_ = sc::unspecified;
  endpoint_info context_;
  std::string message_;
};

template <sc Code, class... Ts>
status make_status(Ts&&... xs) {
  return status::make<Code>(std::forward<Ts>(xs)...);
}

/// `peer_added(<id>, 127.0.0.1:9999, "handshake successful")`.
template <std::same_as<status> T>
bool convert(const T& from, std::string& to) {
  to = std::string{to_string(from.code())} + '(';
  if (const auto* about = from.context()) {
    to += to_string(about->node) + ", ";
    if (about->network)
      to += to_string(*about->network) + ", ";
  }
  to += detail::quoted(*from.message()) + ')';
  return true;
}

/// What a status_subscriber gives; `none` if there was nothing.
using status_variant = std::variant<none, error, status>;

template <class T>
bool is(const status_variant& x) {
  return std::holds_alternative<T>(x);
}
template <class T>
T* get_if(status_variant& x) {
  return std::get_if<T>(&x);
}
template <class T>
const T* get_if(const status_variant& x) {
  return std::get_if<T>(&x);
}
template <class T>
T& get(status_variant& x) {
  if (auto* held = std::get_if<T>(&x))
    return *held;
  throw bad_variant_access{};
}
template <class T>
const T& get(const status_variant& x) {
  if (const auto* held = std::get_if<T>(&x))
    return *held;
  throw bad_variant_access{};
}

namespace detail {

/// The library's event as Broker's, which tells only two errors: an unpeer of what is no peer, and
/// a peer that is not available; here with the cause in parentheses.
inline status_variant from_native(const pubsub::status& event) {
  auto about = endpoint_info{event.peer(), event.network()};
  if (event.failure() == pubsub::errc::peer_invalid)
    return error{ec::peer_invalid, std::move(about), event.message()};
  if (event.is_error())
    return error{ec::peer_unavailable, endpoint_info{endpoint_id{}, std::move(about.network)},
                 "unable to connect to remote peer (" + event.message() + ')'};
  switch (event.code()) {
  case pubsub::status_code::peer_added:
    return status::make<sc::peer_added>(std::move(about), event.message());
  case pubsub::status_code::peer_removed:
    return status::make<sc::peer_removed>(std::move(about), event.message());
  case pubsub::status_code::peer_lost:
    return status::make<sc::peer_lost>(std::move(about), event.message());
  case pubsub::status_code::endpoint_discovered:
    return status::make<sc::endpoint_discovered>(std::move(about), event.message());
  case pubsub::status_code::endpoint_unreachable:
    return status::make<sc::endpoint_unreachable>(std::move(about), event.message());
  case pubsub::status_code::unspecified:
    break;
  }
  return status{};
}

} // namespace detail

} // namespace over_pubsub
} // namespace broker
