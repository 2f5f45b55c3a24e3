// Functions on Broker's data: `get`, `get_if`, `is`, `visit`, `contains`; text and hashes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include <pubsub/compat/broker/convert.hpp>
#include <pubsub/compat/broker/data.hpp>

namespace broker {
inline namespace over_pubsub {

/// What `broker::get` throws.
class bad_variant_access : public std::exception {
public:
  const char* what() const noexcept override { return "bad variant access"; }
};

template <class T>
bool is(const data& x) {
  return std::holds_alternative<T>(x.get_data());
}
template <class T>
bool holds_alternative(const data& x) {
  return is<T>(x);
}
template <class T>
T* get_if(data* x) {
  return std::get_if<T>(&x->get_data());
}
template <class T>
const T* get_if(const data* x) {
  return std::get_if<T>(&x->get_data());
}
template <class T>
T* get_if(data& x) {
  return std::get_if<T>(&x.get_data());
}
template <class T>
const T* get_if(const data& x) {
  return std::get_if<T>(&x.get_data());
}
template <class T>
T& get(data& x) {
  if (auto* held = get_if<T>(x))
    return *held;
  throw bad_variant_access{};
}
template <class T>
const T& get(const data& x) {
  if (const auto* held = get_if<T>(x))
    return *held;
  throw bad_variant_access{};
}
/// Calls `visitor` with a reference to what `x` holds.
template <class Visitor, class Data>
requires std::same_as<std::remove_cvref_t<Data>, data>
decltype(auto) visit(Visitor&& visitor, Data&& x) {
  if constexpr (std::is_lvalue_reference_v<Data>)
    return std::visit(std::forward<Visitor>(visitor), x.get_data());
  else
    return std::visit(std::forward<Visitor>(visitor), std::move(x.get_data()));
}

struct any_type {};

template <class T>
bool exact_match_or_can_convert_to(const data& x) {
  if constexpr (std::same_as<T, any_type>)
    return true;
  else if constexpr (std::same_as<detail::alternative_for<T>, T>)
    return is<T>(x);
  else
    return can_convert_to<T>(x);
}
/// Whether the members have these types, one after the other.
template <class... Ts>
bool contains(const vector& xs) {
  auto member = xs.begin();
  return xs.size() == sizeof...(Ts) && (exact_match_or_can_convert_to<Ts>(*member++) && ...);
}
template <class... Ts>
bool contains(const data& x) {
  const auto* members = get_if<vector>(x);
  return members != nullptr && contains<Ts...>(*members);
}

// -- text --------------------------------------------------------------------------------------

namespace detail {

void append_text(std::string& out, const data& x);

template <class Container>
void append_members(std::string& out, char open, const Container& members, char close) {
  out += open;
  const auto* separator = "";
  for (const auto& member : members) {
    out += separator;
    separator = ", ";
    if constexpr (std::same_as<Container, table>) {
      append_text(out, member.first);
      out += " -> ";
      append_text(out, member.second);
    } else {
      append_text(out, member);
    }
  }
  out += close;
}

struct text_appender {
  std::string& out;

  void operator()(boolean x) const { out += x ? 'T' : 'F'; }
  void operator()(const std::string& x) const { out += x; }
  void operator()(const set& x) const { append_members(out, '{', x, '}'); }
  void operator()(const table& x) const { append_members(out, '{', x, '}'); }
  void operator()(const vector& x) const { append_members(out, '(', x, ')'); }
  void operator()(const auto& x) const {
    std::string text;
    convert(x, text);
    out += text;
  }
};

inline void append_text(std::string& out, const data& x) {
  visit(text_appender{out}, x);
}

} // namespace detail

/// `T`, `42`, `text`, `(a, vector)`, `{a, set}`, `{a -> table}`, `5ns`.
template <class T>
requires detail::is_one_of<T, data, set, table, vector>
bool convert(const T& from, std::string& to) {
  to.clear();
  if constexpr (std::same_as<T, data>)
    detail::append_text(to, from);
  else
    detail::text_appender{to}(from);
  return true;
}

// -- hashes ------------------------------------------------------------------------------------

namespace detail {

/// A hash of everything that is compared; equal values have the same.
struct hasher {
  std::size_t operator()(const data& x) const noexcept {
    auto result = x.get_data().index();
    mix_hash(result, visit(*this, x));
    return result;
  }
  std::size_t operator()(const set& x) const noexcept { return hash_members(x); }
  std::size_t operator()(const table& x) const noexcept { return hash_members(x); }
  std::size_t operator()(const vector& x) const noexcept { return hash_members(x); }
  std::size_t operator()(const table::value_type& x) const noexcept {
    auto result = (*this)(x.first);
    mix_hash(result, (*this)(x.second));
    return result;
  }
  std::size_t operator()(timespan x) const noexcept { return (*this)(x.count()); }
  std::size_t operator()(timestamp x) const noexcept { return (*this)(x.time_since_epoch()); }
  std::size_t operator()(real x) const noexcept { return std::isnan(x) ? 1 : std::hash<real>{}(x); }
  template <class T>
  requires(is_one_of<T, none, boolean, count, integer, std::string, address, subnet, port,
                     enum_value>) std::size_t
  operator()(const T& x) const noexcept {
    return std::hash<T>{}(x);
  }

private:
  std::size_t hash_members(const auto& members) const noexcept {
    auto result = members.size();
    for (const auto& member : members)
      mix_hash(result, (*this)(member));
    return result;
  }
};

} // namespace detail

} // namespace over_pubsub
} // namespace broker

template <>
struct std::hash<broker::data> : broker::detail::hasher {};
template <>
struct std::hash<broker::set> : broker::detail::hasher {};
template <>
struct std::hash<broker::table> : broker::detail::hasher {};
template <>
struct std::hash<broker::vector> : broker::detail::hasher {};
