// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/zeek/record_reader.hpp>

#include <doctest/doctest.h>

#include <pubsub/zeek/event.hpp>
#include <pubsub/zeek/log.hpp>

using namespace pubsub;

namespace {

data columns_of(std::string path, std::vector<zeek::log_field> fields) {
  return zeek::make_log_fields_event({.path = std::move(path), .fields = std::move(fields)});
}

} // namespace

TEST_CASE("a record is read by the columns that its log announced last") {
  zeek::record_reader reader;
  CHECK_FALSE(reader.read(zeek::make_log_event("conn", vector{1u, "a"})));
  CHECK(reader.unknown() == 1);
  CHECK_FALSE(reader.read(columns_of("conn", {{"n", "count"}, {"s", "string"}})));
  const auto first = reader.read(zeek::make_log_event("conn", vector{1u, "a"}));
  REQUIRE(first);
  CHECK(first->schema.path == "conn");
  CHECK(first->schema.fields.at(1) == zeek::log_field{"s", "string"});
  CHECK(first->values == vector{1u, "a"});
  const auto version = first->schema.version;
  CHECK(version > 0);

  SUBCASE("the same columns once more change nothing") {
    CHECK_FALSE(reader.read(columns_of("conn", {{"n", "count"}, {"s", "string"}})));
    CHECK(reader.read(zeek::make_log_event("conn", vector{1u, "a"}))->schema.version == version);
  }
  SUBCASE("others count from now on") {
    CHECK_FALSE(reader.read(columns_of("conn", {{"n", "count"}})));
    CHECK_FALSE(reader.read(zeek::make_log_event("conn", vector{1u, "a"})));
    CHECK(reader.unknown() == 2);
    CHECK(reader.read(zeek::make_log_event("conn", vector{1u}))->schema.version == version + 1);
  }
  SUBCASE("other logs have their own") {
    CHECK_FALSE(reader.read(zeek::make_log_event("dns", vector{1u, "a"})));
    CHECK(reader.unknown() == 2);
  }
  CHECK(reader.others() == 0);
}

TEST_CASE("what is no record, or announces no columns, is counted and passed over") {
  zeek::record_reader reader;
  std::uint64_t expected_others = 0;
  for (const auto& each :
       {data{1u}, zeek::make_event("other", {}), zeek::make_event("log_conn", {}),
        zeek::make_event("log_conn", {1u}), zeek::make_event("log_fields", {"conn"}),
        zeek::make_event("log_fields", {"conn", 1u}),
        zeek::make_event("log_fields", {"conn", vector{vector{"name"}}}),
        zeek::make_event("log_fields", {"conn", vector{vector{"name", 1u}}})}) {
    CHECK_FALSE(reader.read(each));
    CHECK(reader.others() == ++expected_others);
  }
  CHECK(reader.unknown() == 0);
}

TEST_CASE("what announcements make a reader keep is bounded") {
  zeek::record_reader reader;
  SUBCASE("logs") {
    for (std::size_t i = 0; i < zeek::record_reader::max_logs + 2; ++i)
      CHECK_FALSE(reader.read(columns_of("log" + std::to_string(i), {{"n", "count"}})));
    CHECK(reader.beyond_limits() == 2);
    CHECK(reader.read(zeek::make_log_event("log0", vector{1u})));
    const auto last = "log" + std::to_string(zeek::record_reader::max_logs);
    CHECK_FALSE(reader.read(zeek::make_log_event(last, vector{1u})));
    CHECK(reader.unknown() == 1);
    // The columns of a log that is known may change.
    CHECK_FALSE(reader.read(columns_of("log0", {{"n", "count"}, {"m", "count"}})));
    CHECK(reader.read(zeek::make_log_event("log0", vector{1u, 2u})));
  }
  SUBCASE("columns") {
    const std::vector<zeek::log_field> many(zeek::record_reader::max_columns + 1, {"n", "count"});
    CHECK_FALSE(reader.read(columns_of("conn", many)));
    CHECK(reader.beyond_limits() == 1);
  }
  SUBCASE("bytes") {
    const std::string long_name(zeek::record_reader::max_bytes / 2, 'n');
    CHECK_FALSE(reader.read(columns_of("a", {{long_name, "count"}})));
    CHECK_FALSE(reader.read(columns_of("b", {{long_name, "count"}})));
    CHECK(reader.beyond_limits() == 1);
    CHECK_FALSE(reader.read(columns_of("a", {{"n", "count"}})));
    CHECK_FALSE(reader.read(columns_of("b", {{long_name, "count"}})));
    CHECK(reader.beyond_limits() == 1);
  }
  CHECK(reader.others() == 0);
}
