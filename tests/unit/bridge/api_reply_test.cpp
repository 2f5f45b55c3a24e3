// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/jetstream/api_reply.hpp"

#include <doctest/doctest.h>

using namespace pubsub::bridge;

TEST_CASE("answers of JetStream are read, whatever kind they are") {
  api_parser parser;
  auto reply = parser.parse(R"({"stream":"ZEEK","seq":12,"duplicate":true})");
  REQUIRE(reply);
  CHECK(reply->sequence == 12);
  CHECK(reply->stream == "ZEEK");
  reply = parser.parse(R"({"error":{"code":503,"err_code":10077,"description":"full\n"}})");
  REQUIRE(reply);
  REQUIRE(reply->error);
  CHECK(reply->error->code == 503);
  CHECK(reply->error->number == 10077);
  CHECK(reply->error->text == "full?");
  CHECK_FALSE(reply->sequence);
  reply =
      parser.parse(R"({"stream_name":"S","name":"C","delivered":{"consumer_seq":3,"stream_seq":4},
                           "num_ack_pending":5,"num_pending":6})");
  REQUIRE(reply);
  CHECK(reply->is_consumer);
  CHECK(reply->name == "C");
  CHECK(reply->delivered == 3);
  CHECK(reply->delivered_record == 4);
  CHECK(reply->unacknowledged == 5);
  CHECK(reply->pending == 6);
  reply = parser.parse(R"({"total":0,"streams":null})");
  REQUIRE(reply);
  CHECK(reply->first_name == "");
  reply = parser.parse(R"({"total":1,"streams":["S"]})");
  REQUIRE(reply);
  CHECK(reply->first_name == "S");
}

TEST_CASE("answers that are none of JetStream say nothing") {
  api_parser parser;
  for (const auto* text : {"", "{", "[]", "7", "+OK", "\xff\xff", "{\"seq\":1"})
    CHECK_FALSE(parser.parse(text));
  for (const auto* text :
       {"{}", R"({"stream":"S","seq":-1})", R"({"stream":7,"seq":1})", R"({"seq":1})",
        R"({"stream":"S","seq":"1"})", R"({"delivered":{}})", R"({"streams":["S"]})"}) {
    CAPTURE(text);
    const auto reply = parser.parse(text);
    REQUIRE(reply);
    CHECK_FALSE(reply->sequence);
    CHECK_FALSE(reply->is_consumer);
    CHECK_FALSE(reply->first_name);
    CHECK_FALSE(reply->error);
  }
}
