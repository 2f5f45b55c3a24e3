// Broker's data: one variant of fifteen types.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <pubsub/compat/broker/convert.hpp>
#include <pubsub/compat/broker/fwd.hpp>
#include <pubsub/compat/broker/time.hpp>
#include <pubsub/compat/broker/values.hpp>

namespace broker {
inline namespace over_pubsub {

using data_variant = std::variant<none, boolean, count, integer, real, std::string, address, subnet,
                                  port, timestamp, timespan, enum_value, set, table, vector>;

// GCC 12 takes the scoped names below for shadowing the types above.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

/// The index in `data_variant`.
enum class variant_tag : std::uint8_t {
  none,
  boolean,
  count,
  integer,
  real,
  string,
  address,
  subnet,
  port,
  timestamp,
  timespan,
  enum_value,
  set,
  table,
  list,
  vector = list,
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

namespace detail {

/// The alternative that a value of type T becomes; void if it becomes none.
template <class T>
constexpr auto alternative_of() {
  if constexpr (std::same_as<T, bool>)
    return std::type_identity<boolean>{};
  else if constexpr (std::floating_point<T>)
    return std::type_identity<real>{};
  else if constexpr (std::unsigned_integral<T>)
    return std::type_identity<count>{};
  else if constexpr (std::signed_integral<T>)
    return std::type_identity<integer>{};
  else if constexpr (is_one_of<T, none, address, subnet, port, timestamp, timespan, enum_value, set,
                               table, vector>)
    return std::type_identity<T>{};
  else if constexpr (std::convertible_to<T, std::string> || std::same_as<T, std::string_view>)
    return std::type_identity<std::string>{};
  else
    return std::type_identity<void>{};
}
template <class T>
using alternative_for = typename decltype(alternative_of<T>())::type;

template <class T>
concept value_like = !std::derived_from<T, data> && !std::is_void_v<alternative_for<T>>;

} // namespace detail

/// One value. Copies are deep. Values order first by type, then by content; NaN equals itself and
/// comes behind all other reals.
class data {
public:
  using type = variant_tag;

  data() = default;
  /// Unsigned integers become `count`, signed ones `integer`.
  template <detail::value_like T>
  data(T x) : value_(std::in_place_type<detail::alternative_for<T>>, std::move(x)) {}

  type get_type() const noexcept { return static_cast<type>(value_.index()); }
  type get_tag() const noexcept { return get_type(); }
  const char* get_type_name() const noexcept {
    constexpr const char* names[] = {"none",     "boolean",    "count",  "integer", "real",
                                     "string",   "address",    "subnet", "port",    "timestamp",
                                     "timespan", "enum_value", "set",    "table",   "vector"};
    return names[value_.index()];
  }
  /// The empty value of this type.
  static data from_type(type wanted) { return empty_value<0>(static_cast<std::size_t>(wanted)); }
  data_variant& get_data() noexcept { return value_; }
  const data_variant& get_data() const noexcept { return value_; }

  bool is_none() const noexcept { return holds<none>(); }
  bool is_boolean() const noexcept { return holds<boolean>(); }
  bool is_count() const noexcept { return holds<count>(); }
  bool is_integer() const noexcept { return holds<integer>(); }
  bool is_real() const noexcept { return holds<real>(); }
  bool is_string() const noexcept { return holds<std::string>(); }
  bool is_address() const noexcept { return holds<address>(); }
  bool is_subnet() const noexcept { return holds<subnet>(); }
  bool is_port() const noexcept { return holds<port>(); }
  bool is_timestamp() const noexcept { return holds<timestamp>(); }
  bool is_timespan() const noexcept { return holds<timespan>(); }
  bool is_enum_value() const noexcept { return holds<enum_value>(); }
  bool is_set() const noexcept { return holds<set>(); }
  bool is_table() const noexcept { return holds<table>(); }
  bool is_list() const noexcept { return holds<vector>(); }

  boolean to_boolean(boolean otherwise = false) const noexcept { return or_else(otherwise); }
  count to_count(count otherwise = 0) const noexcept { return or_else(otherwise); }
  integer to_integer(integer otherwise = 0) const noexcept { return or_else(otherwise); }
  real to_real(real otherwise = 0) const noexcept { return or_else(otherwise); }
  address to_address(const address& otherwise = {}) const noexcept { return or_else(otherwise); }
  subnet to_subnet(const subnet& otherwise = {}) const noexcept { return or_else(otherwise); }
  port to_port(port otherwise = {}) const noexcept { return or_else(otherwise); }
  timestamp to_timestamp(timestamp otherwise = {}) const noexcept { return or_else(otherwise); }
  timespan to_timespan(timespan otherwise = {}) const noexcept { return or_else(otherwise); }
  /// Empty, as are those below, if it is something else.
  std::string_view to_string() const noexcept { return or_empty<std::string>(); }
  const enum_value& to_enum_value() const noexcept { return or_empty<enum_value>(); }
  const vector& to_list() const noexcept { return or_empty<vector>(); }
  const set& to_set() const noexcept { return or_empty<set>(); }
  const table& to_table() const noexcept { return or_empty<table>(); }
  /// Broker 2.8 makes a `data` from a `variant`, which is the same here.
  const data& to_data() const noexcept { return *this; }

  friend std::weak_ordering operator<=>(const data& x, const data& y) noexcept {
    return compare(x, y);
  }
  friend bool operator==(const data& x, const data& y) noexcept { return compare(x, y) == 0; }

private:
  template <class T>
  bool holds() const noexcept {
    return std::holds_alternative<T>(value_);
  }
  template <class T>
  T or_else(const T& otherwise) const noexcept {
    const auto* held = std::get_if<T>(&value_);
    return held != nullptr ? *held : otherwise;
  }
  template <class T>
  const T& or_empty() const noexcept {
    static const T empty{};
    const auto* held = std::get_if<T>(&value_);
    return held != nullptr ? *held : empty;
  }
  template <std::size_t Index>
  static data empty_value(std::size_t wanted) {
    if constexpr (Index < std::variant_size_v<data_variant>)
      return Index == wanted ? data{std::variant_alternative_t<Index, data_variant>{}}
                             : empty_value<Index + 1>(wanted);
    else
      return data{};
  }

  /// One walk over both: with `<` of the containers, each level would look at its members twice.
  static std::weak_ordering compare(const data& x, const data& y) noexcept {
    if (x.value_.index() != y.value_.index())
      return x.value_.index() <=> y.value_.index();
    return std::visit(
        [&y](const auto& a) {
          return compare_same(a, *std::get_if<std::remove_cvref_t<decltype(a)>>(&y.value_));
        },
        x.value_);
  }
  static std::weak_ordering compare_same(const auto& x, const auto& y) noexcept { return x <=> y; }
  static std::weak_ordering compare_same(real x, real y) noexcept {
    if (std::isnan(x) || std::isnan(y))
      return std::isnan(x) <=> std::isnan(y);
    return x < y ? std::weak_ordering::less
                 : (y < x ? std::weak_ordering::greater : std::weak_ordering::equivalent);
  }
  static std::weak_ordering compare_same(const set& x, const set& y) noexcept {
    return compare_members(x, y);
  }
  static std::weak_ordering compare_same(const table& x, const table& y) noexcept {
    return compare_members(x, y);
  }
  static std::weak_ordering compare_same(const vector& x, const vector& y) noexcept {
    return compare_members(x, y);
  }
  static std::weak_ordering compare_member(const data& x, const data& y) noexcept {
    return compare(x, y);
  }
  static std::weak_ordering compare_member(const std::pair<const data, data>& x,
                                           const std::pair<const data, data>& y) noexcept {
    const auto keys = compare(x.first, y.first);
    return keys != 0 ? keys : compare(x.second, y.second);
  }
  static std::weak_ordering compare_members(const auto& x, const auto& y) noexcept {
    return std::lexicographical_compare_three_way(
        x.begin(), x.end(), y.begin(), y.end(),
        [](const auto& a, const auto& b) { return compare_member(a, b); });
  }

  data_variant value_;
};

} // namespace over_pubsub
} // namespace broker
