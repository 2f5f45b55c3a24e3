// Batches of log records of Zeek's ZeroMQ clusters; the file of captured ones is JSON.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/cluster_capture.hpp"

#include <pubsub/zeek/log_batch.hpp>

#include <doctest/doctest.h>

using namespace pubsub;
using namespace std::chrono_literals;

namespace {

const std::string batch_head = "0000000c 4c6f673a3a554e4b4e4f574e" // Log::UNKNOWN
                               "00000010 4c6f673a3a5752495445525f4e4f4e45"
                               "00000007 64656661756c74 00000007 6d792d70617468";
const std::string one_column = "00000001 00 00000002 7473 00000005 00000016 00";

void check_malformed(const std::string& hex, errc code, std::string_view context) {
  const auto batch = zeek::parse_log_batch(test::from_hex(hex));
  REQUIRE_FALSE(batch);
  CHECK(batch.error() == code);
  CHECK(batch.error().context() == context);
}

zeek::log_batch batch_of(std::string type, vector values) {
  zeek::log_batch result{.stream = "My::LOG",
                         .writer = "Log::WRITER_ASCII",
                         .filter = "default",
                         .path = "my",
                         .columns = {zeek::log_column{{"x", std::move(type)}, {}, true}},
                         .records = {}};
  for (auto& each : values)
    result.records.push_back(vector{std::move(each)});
  return result;
}

void check_given_back(const zeek::log_batch& batch) {
  const auto bytes = zeek::encode_log_batch(batch);
  REQUIRE_MESSAGE(bytes, bytes.error().message());
  const auto again = zeek::parse_log_batch(*bytes);
  REQUIRE_MESSAGE(again, again.error().message());
  CHECK(*again == batch);
}

} // namespace

TEST_CASE("the batch of the specification's example has two records") {
  const auto batch =
      zeek::parse_log_batch(test::from_hex(batch_head + one_column +
                                           "00000002 00000005 00000016 01 3ff0000000000000"
                                           "00000005 00000016 01 4000000000000000"));
  REQUIRE_MESSAGE(batch, batch.error().message());
  CHECK(batch->stream == "Log::UNKNOWN");
  CHECK(batch->writer == "Log::WRITER_NONE");
  CHECK(batch->filter == "default");
  CHECK(batch->path == "my-path");
  REQUIRE(batch->columns.size() == 1);
  CHECK(batch->columns[0] == zeek::log_column{{"ts", "time"}, {}, false});
  CHECK(batch->records == std::vector<vector>{{timestamp{1s}}, {timestamp{2s}}});
}

TEST_CASE("every captured batch of logs is read, and written again as it was") {
  std::size_t batches = 0;
  std::size_t records = 0;
  for (const auto* session : test::captured_sessions)
    for (const auto& message : test::captured(session)) {
      if (message.socket != "PULL")
        continue;
      const auto& bytes = message.frames.at(3);
      const auto batch = zeek::parse_log_batch(bytes);
      REQUIRE_MESSAGE(batch, batch.error().message());
      CHECK(batch->columns.size() > 1);
      ++batches;
      records += batch->records.size();
      const auto written = zeek::encode_log_batch(*batch);
      REQUIRE_MESSAGE(written, written.error().message());
      CHECK(*zeek::parse_log_batch(*written) == *batch);
      CHECK(written->size() == bytes.size()); // members of sets may come in another order
    }
  CHECK(batches == 16);
  CHECK(records > batches);
}

TEST_CASE("every type that logs can hold is given back") {
  check_given_back(batch_of("bool", {true, false, none{}}));
  check_given_back(batch_of("int", {integer{-7}}));
  check_given_back(batch_of("count", {~count{0}}));
  check_given_back(batch_of("double", {1.5}));
  check_given_back(batch_of("time", {timestamp{1'700'000'000'250'000'000ns}}));
  check_given_back(batch_of("interval", {timespan{-250ms}}));
  check_given_back(batch_of("string", {"text", ""}));
  check_given_back(batch_of("file", {"text"}));
  check_given_back(batch_of("enum", {enum_value{"A::B"}}));
  check_given_back(batch_of("port", {port{53, transport::udp}}));
  check_given_back(batch_of("addr", {*address::parse("192.0.2.1"), *address::parse("::1")}));
  check_given_back(
      batch_of("subnet", {*subnet::parse("10.0.0.0/8"), *subnet::parse("2001:db8::/32")}));
  check_given_back(batch_of("set[count]", {set{count{1}, count{2}}, set{}, none{}}));
  check_given_back(batch_of("vector[string]", {vector{"b", "a", "b"}, vector{}}));
  auto with_second_name = batch_of("count", {});
  with_second_name.columns[0].secondary_name = "y";
  check_given_back(with_second_name);
}

TEST_CASE("what a batch cannot hold is not written") {
  const auto refused = [](const zeek::log_batch& batch, errc code, std::string_view context) {
    const auto bytes = zeek::encode_log_batch(batch);
    REQUIRE_FALSE(bytes);
    CHECK(bytes.error() == code);
    CHECK(bytes.error().context() == context);
  };
  refused(batch_of("count", {integer{1}}), errc::type_clash, "column 0 (x): a value is no count");
  refused(batch_of("set[count]", {set{"a"}}), errc::type_clash,
          "column 0 (x): a value is no set[count]");
  refused(batch_of("pattern", {}), errc::invalid_argument,
          "column 0 (x): logs cannot hold the type pattern");
  refused(batch_of("set[vector[count]]", {}), errc::invalid_argument,
          "column 0 (x): logs cannot hold the type set[vector[count]]");
  auto batch = batch_of("count", {});
  batch.records.push_back({});
  refused(batch, errc::invalid_argument, "a record of 0 values, and there are 1 columns");
}

TEST_CASE("a malformed batch is refused, and the error says where") {
  check_malformed("", errc::end_of_file, "names, byte 0: the record ends within a value");
  check_malformed("ffffffff", errc::invalid_data, "names, byte 0: text of negative length");
  check_malformed(batch_head + "ffffffff", errc::end_of_file,
                  "names, byte 58: 4294967295 columns do not fit into the rest");
  check_malformed(batch_head + "00000001 00 00000002 7473 00000063 00000016 00 00000000",
                  errc::invalid_data, "column 0, byte 62: there is no type 99");
  check_malformed(batch_head + "00000000 00000001", errc::invalid_data,
                  "records, byte 62: records without columns");
  check_malformed(batch_head + one_column + "00000002 00000005 00000016 01 3ff0000000000000",
                  errc::end_of_file, "records, byte 78: 2 records do not fit into the rest");
  check_malformed(batch_head + one_column + "00000001 00000008 00000016 01 3ff0000000000000",
                  errc::not_supported,
                  "record 0, column 0, byte 82: logs cannot hold the type pattern");
  check_malformed(batch_head + one_column + "00000000 00", errc::invalid_data,
                  "records, byte 82: bytes behind the last record");
}
