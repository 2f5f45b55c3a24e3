#include "wire/native/network.hpp"

#include "support/hex.hpp"
#include "wire/native/batch.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::test;

TEST_CASE("the bytes of the worked example") {
  CHECK(wire::make_status_request(7) == from_hex("80000005 10 00000007"));
  CHECK(wire::make_status_reply(7, "{}") == from_hex("80000007 11 00000007 7b7d"));
}

TEST_CASE("what is made is parsed") {
  const auto frame = wire::make_status_reply(0xfffffffe, "{\"x\":\"\xc3\xa4\"}");
  const auto reply = wire::parse_status_frame(std::span{frame}.subspan(4));
  REQUIRE(reply);
  CHECK(reply->kind == wire::frame_kind::status_reply);
  CHECK(reply->number == 0xfffffffe);
  CHECK(reply->text == "{\"x\":\"\xc3\xa4\"}");
  const auto asked = wire::make_status_request(1);
  CHECK(wire::parse_status_frame(std::span{asked}.subspan(4))->kind ==
        wire::frame_kind::status_request);
}

TEST_CASE("what is malformed is nothing") {
  for (const auto* bad : {
           "",               // no kind
           "01 00000007",    // a batch
           "10",             // no number
           "10 000007",      // half a number
           "10 00000007 00", // a request with a text
           "11 000000",      // half a number
           "11 00000007 ff", // no UTF-8
       }) {
    CAPTURE(bad);
    CHECK_FALSE(wire::parse_status_frame(from_hex(bad)));
  }
  const std::string longest(wire::max_status_text_bytes, 'x');
  const auto fits = wire::make_status_reply(1, longest);
  CHECK(wire::parse_status_frame(std::span{fits}.subspan(4)));
  const auto too_long = wire::make_status_reply(1, longest + "x");
  CHECK_FALSE(wire::parse_status_frame(std::span{too_long}.subspan(4)));
}

TEST_CASE("the first byte is the kind, and most bytes are none") {
  CHECK(wire::kind_of(from_hex("10")) == wire::frame_kind::status_request);
  CHECK(wire::kind_of(from_hex("11")) == wire::frame_kind::status_reply);
  CHECK(wire::kind_of(from_hex("0a")) == wire::frame_kind::flushed);
  for (const auto* hex : {"", "00", "0b", "0f", "12", "ff"})
    CHECK_FALSE(wire::kind_of(from_hex(hex)));
}
