// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/bridge/clickhouse.hpp>

#include <doctest/doctest.h>

#include <utility>

using namespace pubsub;
using bridge::clickhouse_ddl;
using bridge::clickhouse_type;

TEST_CASE("every type of Zeek's logs has a type of ClickHouse") {
  const std::pair<const char*, const char*> types[] = {
      {"time", "Nullable(DateTime64(6, 'UTC'))"},
      {"interval", "Nullable(Float64)"},
      {"double", "Nullable(Float64)"},
      {"count", "Nullable(UInt64)"},
      {"int", "Nullable(Int64)"},
      {"bool", "Nullable(Bool)"},
      {"addr", "Nullable(IPv6)"},
      {"subnet", "Nullable(String)"},
      {"port", "Nullable(UInt16)"},
      {"string", "Nullable(String)"},
      {"enum", "Nullable(String)"},
      {"func", "Nullable(String)"},
      {"file", "Nullable(String)"},
      {"set[addr]", "Array(IPv6)"},
      {"table[count]", "Array(UInt64)"},
      {"vector[interval]", "Array(Nullable(Float64))"},
      {"vector[time]", "Array(Nullable(DateTime64(6, 'UTC')))"},
  };
  for (const auto& [zeek, clickhouse] : types)
    CHECK(clickhouse_type(zeek).value_or("an error") == clickhouse);
}

TEST_CASE("a type that no log can hold is refused with its name") {
  for (const auto* const type :
       {"", "record", "set[", "set[]", "set[set[addr]]", "vector[pattern]", "Time", "addr]"}) {
    const auto refused = clickhouse_type(type);
    REQUIRE_FALSE(refused);
    CHECK(refused.error() == errc::not_supported);
    CHECK(refused.error().context() ==
          "there is no type of ClickHouse for '" + std::string{type} + "'");
  }
  const auto table = clickhouse_ddl({"odd", {{"ts", "time"}, {"it's", "any"}}, 1});
  REQUIRE_FALSE(table);
  CHECK(table.error().context() == "column it's: there is no type of ClickHouse for 'any'");
  CHECK(clickhouse_ddl({"empty", {}, 1}).error() == errc::invalid_argument);
}

TEST_CASE("a table has a column for each of the log's, and is ordered by its time") {
  const zeek::log_schema schema{"dns",
                                {{"ts", "time"},
                                 {"id.orig_h", "addr"},
                                 {"id.orig_p", "port"},
                                 {"answers", "vector[string]"},
                                 {"tunnel_parents", "set[string]"}},
                                1};
  CHECK(clickhouse_ddl(schema).value_or("an error") == R"(CREATE DATABASE IF NOT EXISTS `zeek`;

CREATE TABLE IF NOT EXISTS `zeek`.`dns` (
    `ts` DateTime64(6, 'UTC'),
    `id.orig_h` Nullable(IPv6),
    `id.orig_p` Nullable(UInt16),
    `answers` Array(Nullable(String)),
    `tunnel_parents` Array(String)
)
ENGINE = MergeTree
ORDER BY `ts`;
)");
}

TEST_CASE("with brokers there are a table that reads the topic and a view that moves it") {
  const zeek::log_schema schema{"x", {{"name", "string"}}, 1};
  bridge::clickhouse_options options;
  options.database = "sensors";
  options.table = "a`b";
  options.brokers = "k1:9092,k2:9092";
  options.group = "it's";
  CHECK(clickhouse_ddl(schema, options).value_or("an error") ==
        R"(CREATE DATABASE IF NOT EXISTS `sensors`;

CREATE TABLE IF NOT EXISTS `sensors`.`a\`b` (
    `name` Nullable(String)
)
ENGINE = MergeTree
ORDER BY tuple();

CREATE TABLE IF NOT EXISTS `sensors`.`a\`b_queue` (
    `name` Nullable(String)
)
ENGINE = Kafka
SETTINGS kafka_broker_list = 'k1:9092,k2:9092',
    kafka_topic_list = 'sensors.a`b',
    kafka_group_name = 'it\'s',
    kafka_format = 'JSONEachRow',
    input_format_skip_unknown_fields = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS `sensors`.`a\`b_moved` TO `sensors`.`a\`b` AS
SELECT * FROM `sensors`.`a\`b_queue`;
)");
  options.topic = "zeek.x";
  CHECK(clickhouse_ddl(schema, options)->find("kafka_topic_list = 'zeek.x'") != std::string::npos);
}

TEST_CASE("arrays that ClickHouse would take for one nested table are variants") {
  const zeek::log_schema schema{"x509",
                                {{"san.dns", "vector[string]"},
                                 {"san.ip", "vector[addr]"},
                                 {"san.other_fields", "bool"},
                                 {"one.set", "set[string]"}},
                                1};
  const auto text = clickhouse_ddl(schema).value_or("an error");
  for (const auto* const column :
       {"`san.dns` Variant(Array(Nullable(String)))", "`san.ip` Variant(Array(Nullable(IPv6)))",
        "`san.other_fields` Nullable(Bool)", "`one.set` Array(String)"})
    CHECK(text.find(column) != std::string::npos);
}
