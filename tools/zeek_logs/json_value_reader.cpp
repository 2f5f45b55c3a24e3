// SPDX-License-Identifier: BSD-3-Clause
#include "zeek_logs/json_value_reader.hpp"

#include "zeek_logs/log_text.hpp"

#include <charconv>
#include <optional>
#include <utility>

namespace pubsub::zeek {

namespace sj = simdjson::ondemand;

namespace {

constexpr unsigned max_depth = 64;
// Whole numbers of seconds do not get this large; Zeek can write milliseconds.
constexpr std::int64_t least_milliseconds = 100'000'000'000;

template <class... Names>
bool any_of(std::string_view x, Names... names) {
  return ((x == names) || ...);
}

template <class... Ends>
bool ends_with_any(std::string_view x, Ends... ends) {
  return (x.ends_with(ends) || ...);
}

template <class T>
std::optional<T> whole_number(std::string_view text) {
  T value{};
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

std::string_view trimmed(std::string_view token) {
  auto end = token.find_last_not_of(" \t\r\n");
  return token.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

std::optional<data> hinted_number(std::string_view token, name_hint hint, transport protocol) {
  if (hint == name_hint::port) {
    if (auto number = whole_number<std::uint16_t>(token))
      return data{port{*number, protocol}};
  } else if (hint == name_hint::time || hint == name_hint::interval) {
    auto ns = parse_seconds(token);
    if (hint == name_hint::time) {
      auto ms = whole_number<std::int64_t>(token);
      if (ms && *ms >= least_milliseconds)
        ns = *ms < INT64_MAX / 1'000'000 ? std::optional{*ms * 1'000'000} : std::nullopt;
    }
    if (ns)
      return hint == name_hint::time ? data{timestamp{timespan{*ns}}} : data{timespan{*ns}};
  }
  return std::nullopt;
}

expected<data> read_number(sj::value value, name_hint hint, transport protocol) {
  auto token = trimmed(value.raw_json_token());
  sj::number number;
  if (auto failure = value.get_number().get(number)) // also checks the token's syntax
    return json_error(failure);
  if (auto hinted = hinted_number(token, hint, protocol))
    return std::move(*hinted);
  switch (number.get_number_type()) {
  case sj::number_type::unsigned_integer:
    return data{number.get_uint64()};
  case sj::number_type::signed_integer: {
    auto x = number.get_int64();
    return x < 0 ? data{x} : data{static_cast<std::uint64_t>(x)};
  }
  default:
    return data{number.get_double()};
  }
}

bool is_enum_label(std::string_view text) {
  auto at = text.rfind("::");
  if (at == std::string_view::npos || at == 0 || at + 2 == text.size() || text.size() > 128)
    return false;
  for (char c : text.substr(0, at))
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
          c == ':'))
      return false;
  for (char c : text.substr(at + 2))
    if (!((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
      return false;
  return true;
}

data typed_text(std::string_view text, name_hint hint, json_source source) {
  if (hint == name_hint::address)
    if (auto x = address::parse(text))
      return *x;
  if (hint == name_hint::time)
    if (auto x = parse_iso_time(text))
      return *x;
  if (hint == name_hint::protocol)
    return enum_value{std::string{text}};
  if (source == json_source::event_dump) {
    if (auto x = parse_duration(text))
      return *x;
    if (is_enum_label(text))
      return enum_value{std::string{text}};
  }
  return text;
}

expected<data> read_array(sj::array array, name_hint hint, json_source source, transport protocol,
                          unsigned depth) {
  vector elements;
  for (auto item : array) {
    sj::value value;
    if (auto failure = item.get(value))
      return json_error(failure);
    auto element = read_json_value(value, hint, source, protocol, depth + 1);
    if (!element)
      return element;
    elements.push_back(std::move(*element));
  }
  return data{std::move(elements)};
}

// `{"port":53,"proto":"udp"}` and nothing else.
std::optional<data> as_port(const table& members) {
  if (members.size() != 2)
    return std::nullopt;
  auto number = members.find(data{"port"});
  auto protocol = members.find(data{"proto"});
  if (number == members.end() || protocol == members.end())
    return std::nullopt;
  auto value = number->second.get_if<port>();
  auto name = protocol->second.get_if<enum_value>();
  if (!value || !name)
    return std::nullopt;
  return data{port{value->number(), parse_transport(name->name())}};
}

expected<data> read_object(sj::object object, json_source source, transport protocol,
                           unsigned depth) {
  table members;
  for (auto item : object) {
    sj::field field;
    std::string_view key_text;
    if (auto failure = std::move(item).get(field))
      return json_error(failure);
    if (auto failure = field.unescaped_key().get(key_text))
      return json_error(failure);
    std::string key{key_text};
    auto member = read_json_value(field.value(), hint_of(key), source, protocol, depth + 1);
    if (!member)
      return member;
    members.emplace(std::move(key), std::move(*member)); // the first of two equal keys counts
  }
  if (source == json_source::event_dump)
    if (auto value = as_port(members))
      return std::move(*value);
  return data{std::move(members)};
}

} // namespace

name_hint hint_of(std::string_view name) {
  name = name.substr(name.rfind('.') + 1);
  if (any_of(name, "duration", "rtt", "lease_time") ||
      ends_with_any(name, "_duration", "_interval"))
    return name_hint::interval;
  if (any_of(name, "ts", "t", "last_active") || name.starts_with("not_valid_") ||
      ends_with_any(name, "_ts", "_time"))
    return name_hint::time;
  if (any_of(name, "host", "addr") || ends_with_any(name, "_h", "_addr", "_host", "_hosts", "_ip"))
    return name_hint::address;
  if (name == "port" || name.ends_with("_p"))
    return name_hint::port;
  return name == "proto" ? name_hint::protocol : name_hint::nothing;
}

expected<data> read_json_value(sj::value value, name_hint hint, json_source source,
                               transport protocol, unsigned depth) {
  if (depth > max_depth)
    return error{errc::limit_exceeded, "the JSON is nested more than 64 levels deep"};
  sj::json_type type;
  if (auto failure = value.type().get(type))
    return json_error(failure);
  switch (type) {
  case sj::json_type::array: {
    sj::array array;
    if (auto failure = value.get_array().get(array))
      return json_error(failure);
    return read_array(array, hint, source, protocol, depth);
  }
  case sj::json_type::object: {
    sj::object object;
    if (auto failure = value.get_object().get(object))
      return json_error(failure);
    return read_object(object, source, protocol, depth);
  }
  case sj::json_type::number:
    return read_number(value, hint, protocol);
  case sj::json_type::string: {
    std::string_view text;
    if (auto failure = value.get_string().get(text))
      return json_error(failure);
    return typed_text(text, hint, source);
  }
  case sj::json_type::boolean: {
    bool x = false;
    if (auto failure = value.get_bool().get(x))
      return json_error(failure);
    return data{x};
  }
  case sj::json_type::null:
    break;
  }
  bool null = false;
  if (value.is_null().get(null) || !null)
    return error{errc::invalid_json, "expected a JSON value"};
  return data{none{}};
}

expected<sj::document> json_line::parse(std::string_view line) {
  padded_.assign(line);
  padded_.append(simdjson::SIMDJSON_PADDING, '\0');
  sj::document document;
  auto view = simdjson::padded_string_view{padded_.data(), line.size(), padded_.size()};
  if (auto failure = parser_.iterate(view).get(document))
    return json_error(failure);
  return document;
}

bool json_line::at_end(sj::document& document) {
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS;
}

error json_error(simdjson::error_code code) {
  return {errc::invalid_json, std::string{simdjson::error_message(code)}};
}

} // namespace pubsub::zeek
