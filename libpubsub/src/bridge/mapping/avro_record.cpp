// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/mapping/avro_record.hpp"

#include <bit>
#include <limits>
#include <optional>

#include <pubsub/bridge/avro.hpp>

namespace pubsub::bridge {

namespace {

constexpr std::size_t most_schemas = 512;

void add_long(std::string& out, std::int64_t x) {
  auto zigzag = (static_cast<std::uint64_t>(x) << 1U) ^ static_cast<std::uint64_t>(x >> 63);
  for (; zigzag >= 0x80; zigzag >>= 7U)
    out += static_cast<char>((zigzag & 0x7fU) | 0x80U);
  out += static_cast<char>(zigzag);
}

void add_fixed(std::string& out, std::uint64_t x) {
  for (unsigned shift = 0; shift < 64; shift += 8)
    out += static_cast<char>((x >> shift) & 0xffU);
}

void add_text(std::string& out, std::string_view x) {
  add_long(out, static_cast<std::int64_t>(x.size()));
  out += x;
}

std::optional<std::int64_t> whole_number(const data& x) {
  if (const auto* const signed_one = x.get_if<integer>())
    return *signed_one;
  if (const auto* const number = x.get_if<count>();
      number != nullptr && *number <= std::numeric_limits<std::int64_t>::max())
    return static_cast<std::int64_t>(*number);
  return {};
}

std::optional<double> real_number(const data& x) {
  if (const auto* const number = x.get_if<real>())
    return *number;
  if (const auto* const interval = x.get_if<timespan>())
    return std::chrono::duration<double>{*interval}.count();
  return {};
}

/// Strings, and what has a text of its own: addresses, subnets, labels.
std::optional<std::string> text(const data& x) {
  if (const auto* const plain = x.get_if<std::string>())
    return *plain;
  if (x.is<address>() || x.is<subnet>() || x.is<enum_value>())
    return to_string(x);
  return {};
}

bool add_scalar(std::string& out, avro_type type, const data& x) {
  switch (type) {
  case avro_type::boolean:
    if (const auto* const truth = x.get_if<boolean>())
      return out += *truth ? '\1' : '\0', true;
    return false;
  case avro_type::int32:
    if (const auto* const number = x.get_if<port>())
      return add_long(out, number->number()), true;
    return false;
  case avro_type::int64:
    if (const auto number = whole_number(x))
      return add_long(out, *number), true;
    return false;
  case avro_type::real:
    if (const auto number = real_number(x))
      return add_fixed(out, std::bit_cast<std::uint64_t>(*number)), true;
    return false;
  case avro_type::time:
    if (const auto* const when = x.get_if<timestamp>())
      return add_long(
                 out,
                 std::chrono::floor<std::chrono::microseconds>(when->time_since_epoch()).count()),
             true;
    return false;
  case avro_type::text:
    if (const auto found = text(x))
      return add_text(out, *found), true;
    return false;
  }
  return false;
}

/// One block with all members, then an empty one.
template <class Members>
bool add_array(std::string& out, avro_type type, const Members& members) {
  if (!members.empty())
    add_long(out, static_cast<std::int64_t>(members.size()));
  for (const auto& each : members)
    if (!add_scalar(out, type, each))
      return false;
  add_long(out, 0);
  return true;
}

} // namespace

expected<avro_column> avro_column_of(std::string_view zeek_type) {
  for (const std::string_view container : {"set[", "vector[", "table["})
    if (zeek_type.starts_with(container) && zeek_type.ends_with(']')) {
      auto element = avro_column_of(
          zeek_type.substr(container.size(), zeek_type.size() - container.size() - 1));
      if (!element || element->is_array)
        return error{errc::not_supported,
                     "there is no type of Avro for '" + std::string{zeek_type} + "'"};
      return avro_column{element->element, true};
    }
  constexpr std::pair<std::string_view, avro_type> types[] = {
      {"bool", avro_type::boolean}, {"port", avro_type::int32},  {"count", avro_type::int64},
      {"int", avro_type::int64},    {"double", avro_type::real}, {"interval", avro_type::real},
      {"time", avro_type::time},    {"string", avro_type::text}, {"enum", avro_type::text},
      {"addr", avro_type::text},    {"subnet", avro_type::text}, {"func", avro_type::text},
      {"file", avro_type::text}};
  for (const auto& [name, type] : types)
    if (name == zeek_type)
      return avro_column{type, false};
  return error{errc::not_supported,
               "there is no type of Avro for '" + std::string{zeek_type} + "'"};
}

bool add_avro_value(std::string& out, const avro_column& column, const data& value) {
  if (!column.is_array)
    return add_scalar(out, column.element, value);
  if (const auto* const members = value.get_if<set>())
    return add_array(out, column.element, *members);
  if (const auto* const members = value.get_if<vector>())
    return add_array(out, column.element, *members);
  return false;
}

bool avro_writer::add_record(std::string& out, const zeek::log_schema& schema,
                             const vector& values) {
  const auto& known = look_up(schema);
  if (known.columns.size() != values.size() || known.head.empty())
    return false;
  const auto before = out.size();
  out += known.head;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool unset = values[i].is<none>();
    add_long(out, unset ? 0 : 1); // the branch of the union
    if (!unset && !add_avro_value(out, known.columns[i], values[i])) {
      out.resize(before);
      return false;
    }
  }
  return true;
}

const avro_writer::known_schema& avro_writer::look_up(const zeek::log_schema& schema) {
  const auto found = schemas_.find(schema.path);
  if (found != schemas_.end() && found->second.version == schema.version &&
      found->second.fields == schema.fields)
    return found->second;
  if (schemas_.size() >= most_schemas)
    schemas_.clear();
  known_schema fresh{schema.version, schema.fields, {}, {}};
  for (const auto& each : schema.fields)
    if (const auto column = avro_column_of(each.type))
      fresh.columns.push_back(*column);
  if (const auto fingerprint = avro_fingerprint(schema)) {
    fresh.head = "\xc3\x01";
    add_fixed(fresh.head, *fingerprint);
  }
  return schemas_.insert_or_assign(schema.path, std::move(fresh)).first->second;
}

} // namespace pubsub::bridge
