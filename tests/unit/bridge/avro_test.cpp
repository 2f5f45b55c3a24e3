// Schemas and records of logs in Avro.
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/mapping/avro_record.hpp"

#include <pubsub/bridge/avro.hpp>

#include <doctest/doctest.h>

#include "support/hex.hpp"

using namespace pubsub;
using namespace pubsub::bridge;
using namespace std::chrono_literals;

namespace {

zeek::log_schema small_log() {
  return {"my-log",
          {{"ts", "time"}, {"id.orig_h", "addr"}, {"n", "count"}, {"tags", "set[string]"}},
          1};
}

std::string bytes_of(const vector& values, const zeek::log_schema& schema = small_log()) {
  std::string out;
  avro_writer writer;
  if (!writer.add_record(out, schema, values))
    return "refused";
  CHECK(out.size() >= 10);
  return out.substr(10); // behind marker and fingerprint
}

} // namespace

TEST_CASE("fingerprints are those that the specification of Avro gives") {
  CHECK(avro_fingerprint("") == 0xc15d213aa4d7a795);
  CHECK(avro_fingerprint(R"("null")") == 7195948357588979594U);
  CHECK(avro_fingerprint(R"("int")") == 8247732601305521295U);
}

TEST_CASE("the schema of a log has a field for each column, under a name that Avro allows") {
  const auto text = avro_schema(small_log());
  REQUIRE(text);
  CHECK(
      *text ==
      R"({"type":"record","name":"my_log","namespace":"zeek","fields":[)"
      R"({"name":"ts","type":["null",{"type":"long","logicalType":"timestamp-micros"}],"default":null},)"
      R"({"name":"id_orig_h","type":["null","string"],"default":null},)"
      R"({"name":"n","type":["null","long"],"default":null},)"
      R"({"name":"tags","type":["null",{"type":"array","items":"string"}],"default":null}]})");
}

TEST_CASE("a schema that Avro cannot hold is refused with the column") {
  const auto strange = avro_schema({"x", {{"a", "pattern"}}, 1});
  REQUIRE(!strange);
  CHECK(strange.error().context().find("column a") != std::string::npos);
  const auto twice = avro_schema({"x", {{"a.b", "count"}, {"a_b", "count"}}, 1});
  REQUIRE(!twice);
  CHECK(twice.error().context().find("a_b") != std::string::npos);
  CHECK(!avro_schema({"x", {}, 1}));
}

TEST_CASE("a record begins with the fingerprint of its schema, and has a union for each column") {
  std::string out;
  avro_writer writer;
  REQUIRE(writer.add_record(out, small_log(),
                            {data{timestamp{1s}}, data{*address::parse("1.2.3.4")}, data{count{3}},
                             data{set{data{"a"}}}}));
  CHECK(out.substr(0, 2) == "\xc3\x01");
  const auto fingerprint = *avro_fingerprint(small_log());
  for (unsigned i = 0; i < 8; ++i)
    CHECK(static_cast<std::uint8_t>(out[2 + i]) == ((fingerprint >> (8 * i)) & 0xff));
  using namespace std::string_literals;
  CHECK(out.substr(10) == "\x02\x80\x89\x7a\x02\x0e"
                          "1.2.3.4\x02\x06\x02\x02\x02"
                          "a\x00"s);
}

TEST_CASE("unset columns are null, and empty sets have no block") {
  using namespace std::string_literals;
  CHECK(bytes_of({data{}, data{}, data{}, data{set{}}}) == "\x00\x00\x00\x02\x00"s);
}

TEST_CASE("a record that does not fit its columns is refused, and nothing of it is written") {
  CHECK(bytes_of({data{}, data{}, data{"three"}, data{}}) == "refused");
  CHECK(bytes_of({data{}, data{}, data{}}) == "refused");
  CHECK(bytes_of({data{}, data{}, data{count{~std::uint64_t{0}}}, data{}}) == "refused");
  CHECK(bytes_of({data{}}, {"x", {{"a", "pattern"}}, 1}) == "refused");
}

TEST_CASE("negative numbers and reals are encoded as Avro has them") {
  const zeek::log_schema numbers{"n", {{"i", "int"}, {"d", "double"}, {"b", "bool"}}, 1};
  using namespace std::string_literals;
  CHECK(bytes_of({data{integer{-64}}, data{real{1.0}}, data{boolean{true}}}, numbers) ==
        "\x02\x7f\x02\x00\x00\x00\x00\x00\x00\xf0\x3f\x02\x01"s);
}
