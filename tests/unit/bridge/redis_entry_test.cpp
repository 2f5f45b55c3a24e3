// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/redis/redis_entry.hpp"

#include <string>

#include <doctest/doctest.h>

#include "bridge/engine/json_text.hpp"
#include "bridge/redis/redis_link.hpp"

using namespace pubsub::bridge;

namespace {

/// As the server sends it.
reply_ptr reply_of(const std::string& text) {
  const std::unique_ptr<redisReader, void (*)(redisReader*)> reader{::redisReaderCreate(),
                                                                    ::redisReaderFree};
  void* result = nullptr;
  REQUIRE(::redisReaderFeed(reader.get(), text.data(), text.size()) == REDIS_OK);
  REQUIRE(::redisReaderGetReply(reader.get(), &result) == REDIS_OK);
  REQUIRE(result != nullptr);
  return reply_ptr{static_cast<redisReply*>(result)};
}

std::string as_json(std::string_view text) {
  std::string result;
  append_json_string(result, text);
  return result;
}

} // namespace

TEST_CASE("ids of entries are read, ordered, and have the one before them") {
  CHECK(parse_entry_id("5-7")->before().text() == "5-6");
  CHECK(parse_entry_id("5-0")->before().text() == "4-18446744073709551615");
  CHECK(parse_entry_id("5")->text() == "5-0");
  CHECK(parse_entry_id("0-0")->before().text() == "0-0");
  CHECK(*parse_entry_id("5-7") < *parse_entry_id("5-10"));
  for (const auto* text : {"", "-", "5-", "-5", "5-x", "x", "5-7-8", " 5", "99999999999999999999"})
    CHECK_FALSE(parse_entry_id(text));
}

TEST_CASE("an entry's payload, key and headers are told apart") {
  fetched_record record;
  REQUIRE(read_entry(*reply_of("*8\r\n$7\r\npayload\r\n$1\r\nx\r\n$3\r\nkey\r\n$1\r\nk\r\n"
                               "$15\r\npubsub-sequence\r\n$2\r\n17\r\n$5\r\nother\r\n$1\r\ny\r\n"),
                     "payload", record));
  CHECK(record.payload == "x");
  CHECK(record.key == "k");
  CHECK(record.from.sequence == 17);
}

TEST_CASE("an entry without the field is its only field, or an object") {
  fetched_record one, several;
  REQUIRE(read_entry(*reply_of("*2\r\n$3\r\neve\r\n$2\r\n{}\r\n"), "payload", one));
  CHECK(one.payload == "{}");
  REQUIRE(read_entry(*reply_of("*4\r\n$1\r\na\r\n$1\r\n1\r\n$3\r\nkey\r\n$1\r\n2\r\n"), "payload",
                     several));
  CHECK(several.payload == R"({"a":"1","key":"2"})");
  CHECK(several.key.empty());
}

TEST_CASE("an entry of another shape is none") {
  for (const auto* text : {"*0\r\n", "*1\r\n$1\r\na\r\n", "*2\r\n$1\r\na\r\n:1\r\n", "$1\r\na\r\n",
                           "*2\r\n*0\r\n$1\r\na\r\n", "*-1\r\n"}) {
    CAPTURE(text);
    fetched_record record;
    CHECK_FALSE(read_entry(*reply_of(text), "payload", record));
  }
}

TEST_CASE("errors that pass are told from those that stay") {
  CHECK(is_passing("OOM command not allowed when used memory > 'maxmemory'."));
  CHECK(is_passing("LOADING Redis is loading the dataset in memory"));
  CHECK(is_passing("READONLY"));
  CHECK_FALSE(is_passing("WRONGTYPE Operation against a key holding the wrong kind of value"));
  CHECK_FALSE(is_passing("OOMPH"));
  CHECK_FALSE(is_passing(""));
}

TEST_CASE("any bytes become a JSON string") {
  CHECK(as_json("a\"b\\c\n") == R"("a\"b\\c\u000a")");
  CHECK(as_json("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80") ==
        "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"");
  const std::string replaced = "\xEF\xBF\xBD";
  CHECK(as_json("\xff") == '"' + replaced + '"');
  CHECK(as_json("\xC0\x80") == '"' + replaced + replaced + '"');                // too long a form
  CHECK(as_json("\xED\xA0\x80") == '"' + replaced + replaced + replaced + '"'); // a surrogate
  CHECK(as_json("\xE2\x82") == '"' + replaced + replaced + '"');                // cut off
  CHECK(as_json("\xF4\x90\x80\x80").size() == 14);                              // too large
}
