// The value model of Zeek and Broker: one variant of fifteen types.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <pubsub/export.hpp>
#include <pubsub/fwd.hpp>
#include <pubsub/value/address.hpp>
#include <pubsub/value/enum_value.hpp>
#include <pubsub/value/port.hpp>
#include <pubsub/value/subnet.hpp>
#include <pubsub/value/time.hpp>

namespace pubsub {

/// The unit value: Zeek's unset optional field.
struct none {
  friend constexpr auto operator<=>(none, none) = default;
  friend constexpr bool operator==(none, none) = default;
};

using boolean = bool;
using count = std::uint64_t;
using integer = std::int64_t;
using real = double;
/// Ordered, unique elements.
using set = std::set<data>;
/// Ordered map with unique keys.
using table = std::map<data, data>;
using vector = std::vector<data>;

// GCC 12 takes the scoped names below for shadowing the types above.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

/// Index in the variant, tag byte in bin::v1 and primary sort key, all the same number.
enum class data_type : std::uint8_t {
  none = 0,
  boolean = 1,
  count = 2,
  integer = 3,
  real = 4,
  string = 5,
  address = 6,
  subnet = 7,
  port = 8,
  timestamp = 9,
  timespan = 10,
  enum_value = 11,
  set = 12,
  table = 13,
  vector = 14,
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/// The name json::v1 uses, e.g. `enum-value`.
PUBSUB_EXPORT std::string_view to_string(data_type type) noexcept;

/// One value of the model. Copies are deep; moves are cheap and do not throw. Values order first by
/// type, then by content; both zeros are equal, and NaN equals itself and sorts behind every other
/// real so that the order holds for whatever a peer sends. Broker has no place for NaN in its
/// order: do not use it as a set member or table key.
class data {
public:
  using variant_type =
      std::variant<none, boolean, count, integer, real, std::string, address, subnet, port,
                   timestamp, timespan, enum_value, set, table, vector>;

  data() = default;
  data(none) {}
  data(std::same_as<bool> auto x) : value_(std::in_place_type<boolean>, x) {}
  /// Unsigned integers become `count`, signed ones `integer`.
  data(std::unsigned_integral auto x) requires(!std::same_as<decltype(x), bool>)
      : value_(std::in_place_type<count>, x) {}
  data(std::signed_integral auto x) : value_(std::in_place_type<integer>, x) {}
  data(std::floating_point auto x) : value_(std::in_place_type<real>, static_cast<real>(x)) {}
  data(std::string x) : value_(std::move(x)) {}
  data(std::string_view x) : value_(std::in_place_type<std::string>, x) {}
  data(const char* x) : value_(std::in_place_type<std::string>, x) {}
  data(const address& x) : value_(x) {}
  data(const subnet& x) : value_(x) {}
  data(port x) : value_(x) {}
  data(timestamp x) : value_(x) {}
  data(timespan x) : value_(x) {}
  data(enum_value x) : value_(std::move(x)) {}
  data(set x) : value_(std::move(x)) {}
  data(table x) : value_(std::move(x)) {}
  data(vector x) : value_(std::move(x)) {}

  data_type type() const noexcept { return static_cast<data_type>(value_.index()); }

  template <class T>
  bool is() const noexcept {
    return std::holds_alternative<T>(value_);
  }
  /// The value if it has exactly this type, otherwise null. No conversion between numbers.
  template <class T>
  const T* get_if() const noexcept {
    return std::get_if<T>(&value_);
  }
  template <class T>
  T* get_if() noexcept {
    return std::get_if<T>(&value_);
  }
  /// The value; asking for another type throws std::bad_variant_access.
  template <class T>
  const T& get() const {
    return std::get<T>(value_);
  }
  template <class T>
  T& get() {
    return std::get<T>(value_);
  }

  const variant_type& variant() const noexcept { return value_; }
  variant_type& variant() noexcept { return value_; }

  PUBSUB_EXPORT friend bool operator==(const data& x, const data& y) noexcept;
  /// Linear in the size of the smaller value, whatever the nesting.
  PUBSUB_EXPORT friend std::weak_ordering operator<=>(const data& x, const data& y) noexcept;

private:
  variant_type value_;
};

template <class T>
bool is(const data& x) noexcept {
  return x.is<T>();
}
template <class T>
const T* get_if(const data& x) noexcept {
  return x.get_if<T>();
}
template <class T>
const T& get(const data& x) {
  return x.get<T>();
}

/// Text for logs and people, e.g. `(T, 42, {a -> 1})`; not parseable.
PUBSUB_EXPORT std::string to_string(const data& x);

} // namespace pubsub
