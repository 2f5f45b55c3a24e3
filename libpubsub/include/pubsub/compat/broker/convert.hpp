// Text of values: `convert`, `to_string`, `<<`, `to`, `from_string`.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <pubsub/compat/broker/fwd.hpp>
#include <pubsub/compat/broker/time.hpp>

namespace broker {
inline namespace over_pubsub {

/// Numbers, as std::to_string writes them.
template <class T>
requires std::is_arithmetic_v<T>
bool convert(T from, std::string& to) {
  to = std::to_string(from);
  return true;
}

namespace detail {

template <class T, class... Us>
inline constexpr bool is_one_of = (std::same_as<T, Us> || ...);

/// A type of this namespace that can be printed. A list, so that nothing else is converted to one.
template <class T>
concept printable = is_one_of<T, none, address, subnet, port, enum_value, data, set, table, vector,
                              topic, data_message, endpoint_id, network_info, endpoint_info, error,
                              status, ec, sc, peer_status> || std::derived_from<T, zeek::Message>;

template <class From, class To>
concept convertible = requires(const From& from, To& to) {
  { convert(from, to) } -> std::same_as<bool>;
};

} // namespace detail

template <detail::printable T>
std::string to_string(const T& x) {
  std::string text;
  convert(x, text);
  return text;
}

template <detail::printable T>
std::ostream& operator<<(std::ostream& out, const T& x) {
  return out << to_string(x);
}

/// The value as another type; nothing if it is not one.
template <class To, class From>
requires detail::convertible<From, To> std::optional<To> to(const From& from) {
  auto result = To{};
  return convert(from, result) ? std::optional<To>{std::move(result)} : std::nullopt;
}

/// As `to`; throws std::logic_error instead.
template <class To, class From>
requires detail::convertible<From, To> To get_as(const From& from) {
  auto result = To{};
  if (!convert(from, result))
    throw std::logic_error("conversion failed");
  return result;
}

/// What `text` denotes, for types with `convert(const std::string&, T&)`.
template <class To>
std::optional<To> from_string(const std::string& text) {
  return to<To>(text);
}

/// For types that a value may be read as: specializations say whether it can.
template <class T>
struct can_convert_predicate;

template <class T, class U>
auto can_convert_to(const U& x) -> decltype(can_convert_predicate<T>::check(x)) {
  return can_convert_predicate<T>::check(x);
}

} // namespace over_pubsub
} // namespace broker
