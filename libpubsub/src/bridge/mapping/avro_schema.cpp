// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <set>

#include <pubsub/bridge/avro.hpp>

#include "bridge/mapping/avro_record.hpp"

namespace pubsub::bridge {

namespace {

/// A name as Avro allows it: letters, digits and `_`, and no digit first.
std::string avro_name(std::string_view x) {
  std::string result;
  for (const char each : x) {
    const bool letter = (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || each == '_';
    const bool digit = each >= '0' && each <= '9';
    if (digit && result.empty())
      result += '_';
    result += letter || digit ? each : '_';
  }
  return result.empty() ? "_" : result;
}

/// For people, and for those who read times: with `logical` what a long means, too.
std::string type_text(const avro_column& column, bool logical) {
  static constexpr std::array<std::string_view, 6> plain{"\"boolean\"", "\"int\"",    "\"long\"",
                                                         "\"double\"",  "\"string\"", "\"long\""};
  auto element = std::string{plain[static_cast<std::size_t>(column.element)]};
  if (logical && column.element == avro_type::time)
    element = R"({"type":"long","logicalType":"timestamp-micros"})";
  return column.is_array ? R"({"type":"array","items":)" + element + "}" : element;
}

/// `logical`: the schema as it is given out; otherwise in Parsing Canonical Form, which leaves out
/// what does not change how bytes are read.
expected<std::string> schema_text(const zeek::log_schema& schema, bool logical) {
  if (schema.fields.empty())
    return error{errc::invalid_argument, "the log has no columns"};
  std::string fields;
  std::set<std::string> names;
  for (const auto& each : schema.fields) {
    const auto column = avro_column_of(each.type);
    if (!column)
      return error{column.error().code(), "column " + each.name + ": " + column.error().context()};
    const auto name = avro_name(each.name);
    if (!names.insert(name).second)
      return error{errc::invalid_argument,
                   "column " + each.name + ": another one is called " + name + " in Avro, too"};
    fields += (fields.empty() ? R"({"name":")" : R"(,{"name":")") + name + R"(","type":["null",)" +
              type_text(*column, logical) + (logical ? R"(],"default":null})" : "]}");
  }
  const auto name = avro_name(schema.path);
  return logical ? R"({"type":"record","name":")" + name + R"(","namespace":"zeek","fields":[)" +
                       fields + "]}"
                 : R"({"name":"zeek.)" + name + R"(","type":"record","fields":[)" + fields + "]}";
}

constexpr std::uint64_t empty_fingerprint = 0xc15d213aa4d7a795;

} // namespace

expected<std::string> avro_schema(const zeek::log_schema& schema) {
  return schema_text(schema, true);
}

std::uint64_t avro_fingerprint(std::string_view canonical_schema) {
  auto result = empty_fingerprint;
  for (const char each : canonical_schema) {
    result ^= static_cast<unsigned char>(each);
    for (int bit = 0; bit < 8; ++bit)
      result = (result >> 1U) ^ (empty_fingerprint & (~(result & 1U) + 1U));
  }
  return result;
}

expected<std::uint64_t> avro_fingerprint(const zeek::log_schema& schema) {
  const auto text = schema_text(schema, false);
  if (!text)
    return text.error();
  return avro_fingerprint(*text);
}

} // namespace pubsub::bridge
