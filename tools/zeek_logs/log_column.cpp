// SPDX-License-Identifier: BSD-3-Clause
#include "zeek_logs/log_column.hpp"

#include "zeek_logs/log_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace pubsub::zeek {

namespace {

struct named_type {
  std::string_view name;
  scalar_type type;
};

constexpr named_type scalar_names[] = {
    {"bool", scalar_type::boolean},     {"count", scalar_type::count},
    {"int", scalar_type::integer},      {"double", scalar_type::real},
    {"time", scalar_type::time},        {"interval", scalar_type::interval},
    {"string", scalar_type::string},    {"addr", scalar_type::address},
    {"subnet", scalar_type::subnet},    {"port", scalar_type::port},
    {"enum", scalar_type::enumeration}, {"func", scalar_type::string},
    {"file", scalar_type::string},      {"pattern", scalar_type::string},
};

std::optional<scalar_type> scalar_named(std::string_view name) {
  for (const auto& known : scalar_names)
    if (known.name == name)
      return known.type;
  return std::nullopt;
}

template <class T>
std::optional<data> parse_number(std::string_view text) {
  T value{};
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return data{value};
}

std::optional<data> parse_bool(std::string_view text) {
  if (text == "T" || text == "1")
    return data{true};
  if (text == "F" || text == "0")
    return data{false};
  return std::nullopt;
}

std::optional<data> parse_port(std::string_view text, transport protocol) {
  std::uint16_t number = 0;
  auto end = text.data() + text.size();
  auto [rest, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc{})
    return std::nullopt;
  if (rest == end)
    return data{port{number, protocol}};
  if (*rest != '/')
    return std::nullopt;
  return data{port{number, parse_transport({rest + 1, static_cast<std::size_t>(end - rest - 1)})}};
}

template <class T>
std::optional<data> from_expected(const expected<T>& x) {
  return x ? std::optional<data>{*x} : std::nullopt;
}

std::optional<data> parse_scalar(std::string_view text, scalar_type type, transport protocol) {
  switch (type) {
  case scalar_type::boolean:
    return parse_bool(text);
  case scalar_type::count:
    return parse_number<count>(text);
  case scalar_type::integer:
    return parse_number<integer>(text);
  case scalar_type::real:
    return parse_number<real>(text);
  case scalar_type::time:
    if (auto ns = parse_seconds(text))
      return data{timestamp{timespan{*ns}}};
    return std::nullopt;
  case scalar_type::interval:
    if (auto ns = parse_seconds(text))
      return data{timespan{*ns}};
    return std::nullopt;
  case scalar_type::string:
    return data{unescape(text)};
  case scalar_type::address:
    return from_expected(address::parse(text));
  case scalar_type::subnet:
    return from_expected(subnet::parse(text));
  case scalar_type::port:
    return parse_port(text, protocol);
  case scalar_type::enumeration:
    return data{enum_value{unescape(text)}};
  }
  return std::nullopt;
}

bool is_scalar(const data& x, scalar_type type) {
  switch (type) {
  case scalar_type::boolean:
    return x.is<boolean>() || x.is<none>();
  case scalar_type::count:
    return x.is<count>() || x.is<none>();
  case scalar_type::integer:
    return x.is<integer>() || x.is<none>();
  case scalar_type::real:
    return x.is<real>() || x.is<none>();
  case scalar_type::time:
    return x.is<timestamp>() || x.is<none>();
  case scalar_type::interval:
    return x.is<timespan>() || x.is<none>();
  case scalar_type::string:
  case scalar_type::enumeration:
    return x.is<std::string>() || x.is<enum_value>() || x.is<none>();
  case scalar_type::address:
    return x.is<address>() || x.is<none>();
  case scalar_type::subnet:
    return x.is<subnet>() || x.is<none>();
  case scalar_type::port:
    return x.is<port>() || x.is<none>();
  }
  return false;
}

bool is_nan(const data& x) {
  auto number = x.get_if<real>();
  return number && std::isnan(*number);
}

std::optional<data> parse_element(std::string_view text, scalar_type type,
                                  const log_notation& notation, transport protocol) {
  if (text == notation.unset_field)
    return data{none{}};
  if (type == scalar_type::string && text == notation.empty_field)
    return data{std::string{}};
  return parse_scalar(text, type, protocol);
}

std::optional<data> parse_elements(std::string_view text, column_type type,
                                   const log_notation& notation, transport protocol) {
  vector elements;
  if (text != notation.empty_field) {
    for (;;) {
      auto end = text.find(notation.set_separator);
      auto element = parse_element(text.substr(0, end), type.element, notation, protocol);
      if (!element || (type.container == container_type::set && is_nan(*element)))
        return std::nullopt;
      elements.push_back(std::move(*element));
      if (end == std::string_view::npos)
        break;
      text.remove_prefix(end + notation.set_separator.size());
    }
  }
  if (type.container == container_type::vector)
    return data{std::move(elements)};
  set members;
  for (auto& element : elements)
    members.insert(std::move(element));
  return data{std::move(members)};
}

} // namespace

std::optional<column_type> parse_column_type(std::string_view name) {
  auto container = container_type::scalar;
  for (auto [prefix, kind] : {std::pair{std::string_view{"set["}, container_type::set},
                              std::pair{std::string_view{"table["}, container_type::set},
                              std::pair{std::string_view{"vector["}, container_type::vector}}) {
    if (name.starts_with(prefix) && name.ends_with(']')) {
      container = kind;
      name = name.substr(prefix.size(), name.size() - prefix.size() - 1);
      break;
    }
  }
  auto element = scalar_named(name);
  if (!element)
    return std::nullopt;
  return column_type{container, *element};
}

bool is_of_type(const data& x, column_type type) {
  const auto is_element = [type](const data& each) { return is_scalar(each, type.element); };
  switch (type.container) {
  case container_type::set: {
    const auto* const members = x.get_if<set>();
    return members != nullptr ? std::ranges::all_of(*members, is_element) : x.is<none>();
  }
  case container_type::vector: {
    const auto* const members = x.get_if<vector>();
    return members != nullptr ? std::ranges::all_of(*members, is_element) : x.is<none>();
  }
  case container_type::scalar:
    break;
  }
  return is_element(x);
}

std::optional<data> parse_column(std::string_view text, column_type type,
                                 const log_notation& notation, transport protocol) {
  if (text == notation.unset_field)
    return data{none{}};
  if (type.container != container_type::scalar)
    return parse_elements(text, type, notation, protocol);
  if (type.element == scalar_type::string && text == notation.empty_field)
    return data{std::string{}};
  return parse_scalar(text, type.element, protocol);
}

} // namespace pubsub::zeek
