// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/bridge/clickhouse.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace pubsub::bridge {

namespace {

using type_pair = std::pair<std::string_view, std::string_view>;

constexpr std::array<type_pair, 13> scalar_types{{{"time", "DateTime64(6, 'UTC')"},
                                                  {"interval", "Float64"},
                                                  {"double", "Float64"},
                                                  {"count", "UInt64"},
                                                  {"int", "Int64"},
                                                  {"bool", "Bool"},
                                                  {"addr", "IPv6"},
                                                  {"subnet", "String"},
                                                  {"port", "UInt16"},
                                                  {"string", "String"},
                                                  {"enum", "String"},
                                                  {"func", "String"},
                                                  {"file", "String"}}};
constexpr std::string_view ordering_column = "ts";

std::optional<std::string_view> scalar_type(std::string_view name) {
  for (const auto& [zeek, clickhouse] : scalar_types)
    if (zeek == name)
      return clickhouse;
  return {};
}

/// `Array(T)` for `set[T]`, `vector[T]` and `table[T]`. Only elements of vectors can be unset.
std::optional<std::string> array_type(std::string_view type) {
  for (const std::string_view container : {"set[", "vector[", "table["}) {
    if (!type.starts_with(container) || !type.ends_with(']'))
      continue;
    const auto element =
        scalar_type(type.substr(container.size(), type.size() - container.size() - 1));
    if (!element)
      return {};
    const std::string name{*element};
    return container == "vector[" ? "Array(Nullable(" + name + "))" : "Array(" + name + ")";
  }
  return {};
}

/// ClickHouse takes arrays `san.dns` and `san.ip` for columns of one table `san` within the row,
/// and refuses rows in which they are not equally long. Returns whether that would happen to
/// `column`.
bool is_nested(const zeek::log_schema& schema, const zeek::log_field& column) {
  const auto dot = column.name.find('.');
  if (dot == std::string::npos || !array_type(column.type))
    return false;
  const auto prefix = std::string_view{column.name}.substr(0, dot + 1);
  return std::ranges::any_of(schema.fields, [&](const auto& other) {
    return &other != &column && other.name.starts_with(prefix) && array_type(other.type);
  });
}

std::string quoted(std::string_view text, char quote) {
  std::string result{quote};
  for (const char each : text) {
    if (each == quote || each == '\\')
      result += '\\';
    result += each;
  }
  return result += quote;
}

std::string name_of(std::string_view x) {
  return quoted(x, '`');
}

/// The columns, one a line; `ts` cannot be unset where the table is ordered by it.
expected<std::string> columns_of(const zeek::log_schema& schema) {
  std::string result;
  for (const auto& each : schema.fields) {
    auto type = clickhouse_type(each.type);
    if (!type)
      return error{type.error().code(), "column " + each.name + ": " + type.error().context()};
    if (each.name == ordering_column && each.type == "time")
      type = std::string{*scalar_type("time")};
    else if (is_nested(schema, each))
      type = "Variant(" + *type + ")";
    result +=
        (result.empty() ? "" : ",\n") + std::string{"    "} + name_of(each.name) + ' ' + *type;
  }
  return result;
}

bool is_ordered(const zeek::log_schema& schema) {
  for (const auto& each : schema.fields)
    if (each.name == ordering_column && each.type == "time")
      return true;
  return false;
}

} // namespace

expected<std::string> clickhouse_type(std::string_view zeek_type) {
  if (const auto scalar = scalar_type(zeek_type))
    return "Nullable(" + std::string{*scalar} + ")";
  if (auto array = array_type(zeek_type))
    return std::move(*array);
  return error{errc::not_supported,
               "there is no type of ClickHouse for '" + std::string{zeek_type} + "'"};
}

expected<std::string> clickhouse_ddl(const zeek::log_schema& schema,
                                     const clickhouse_options& options) {
  if (schema.fields.empty())
    return error{errc::invalid_argument, "the log has no columns"};
  const auto columns = columns_of(schema);
  if (!columns)
    return columns;
  const auto plain_name = options.table.empty() ? schema.path : options.table;
  const auto database = name_of(options.database);
  const auto table = database + '.' + name_of(plain_name);
  std::string result = "CREATE DATABASE IF NOT EXISTS " + database +
                       ";\n\nCREATE TABLE IF NOT EXISTS " + table + " (\n" + *columns +
                       "\n)\nENGINE = MergeTree\nORDER BY " +
                       (is_ordered(schema) ? name_of(ordering_column) : "tuple()") + ";\n";
  if (options.brokers.empty())
    return result;
  const auto queue = database + '.' + name_of(plain_name + "_queue");
  const auto topic = options.topic.empty() ? options.database + '.' + plain_name : options.topic;
  result += "\nCREATE TABLE IF NOT EXISTS " + queue + " (\n" + *columns +
            "\n)\nENGINE = Kafka\nSETTINGS kafka_broker_list = " + quoted(options.brokers, '\'') +
            ",\n    kafka_topic_list = " + quoted(topic, '\'') +
            ",\n    kafka_group_name = " + quoted(options.group, '\'') +
            ",\n    kafka_format = 'JSONEachRow',\n    input_format_skip_unknown_fields = 1;\n" +
            "\nCREATE MATERIALIZED VIEW IF NOT EXISTS " + database + '.' +
            name_of(plain_name + "_moved") + " TO " + table + " AS\nSELECT * FROM " + queue + ";\n";
  return result;
}

} // namespace pubsub::bridge
