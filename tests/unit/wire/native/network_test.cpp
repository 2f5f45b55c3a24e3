// SPDX-License-Identifier: BSD-3-Clause
#include "wire/native/network.hpp"

#include "support/hex.hpp"
#include "support/ids.hpp"
#include "support/native_frames.hpp"
#include "wire/native/batch.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace pubsub;
using namespace pubsub::test;

TEST_CASE(
    "a whole report of a node may carry its name, and one that cannot be shown is malformed") {
  const neighbours_report named{{a, 5, 7, true}, true, {b}, {}, "sensor-1"};
  const auto frame = wire::make_report(named);
  const auto payload = std::span{frame}.subspan(4);
  const auto read = wire::parse_neighbours(payload);
  REQUIRE(read);
  CHECK(read->name == "sensor-1");
  CHECK(read->added == named.added);
  CHECK_FALSE(wire::parse_neighbours(payload.first(payload.size() - 1)));
  auto bad = frame;
  bad.back() = std::byte{' '};
  CHECK_FALSE(wire::parse_neighbours(std::span{bad}.subspan(4)));
}

TEST_CASE("a report of links is written and read") {
  const neighbours_report report{{a, 7, 9, false}, true, {b}, {a}};
  const auto frame = wire::make_report(report);
  CHECK(frame == from_hex("80000044 03 02" + a_hex + "0000000000000007 0000000000000009 01" +
                          b_hex + "01" + a_hex));
  CHECK(wire::kind_of(payload_of(frame)) == wire::frame_kind::neighbours);
  const auto read = wire::parse_neighbours(payload_of(frame));
  REQUIRE(read);
  CHECK(read->about.node == a);
  CHECK(read->about.incarnation == 7);
  CHECK(read->about.number == 9);
  CHECK_FALSE(read->about.whole);
  CHECK(read->relays);
  CHECK(read->added == std::vector{b});
  CHECK(read->removed == std::vector{a});
}

TEST_CASE("a report of wants is written and read") {
  const auto frame = wire::make_report(filter_report{{a, 1, 2, true}, {"/a", ""}, {}});
  CHECK(frame ==
        from_hex("80000028 04 01" + a_hex + "0000000000000001 0000000000000002 02 02 2f61 00 00"));
  const auto read = wire::parse_filter_report(payload_of(frame));
  REQUIRE(read);
  CHECK(read->about.whole);
  CHECK(read->added == std::vector<std::string>{"/a", ""});
  CHECK(read->removed.empty());
}

TEST_CASE("questions, answers, credit and the end of the news are written and read") {
  const auto asked = wire::make_question({a, 16, {b}});
  CHECK(asked == from_hex("80000023 07 10" + a_hex + "01" + b_hex));
  const auto question = wire::parse_question(payload_of(asked));
  REQUIRE(question);
  CHECK(question->from == a);
  CHECK(question->hops_left == 16);
  CHECK(question->to == std::vector{b});
  const auto answered = wire::make_answer({b, a, 3, 7, 9});
  CHECK(answered ==
        from_hex("80000032 08 03" + b_hex + a_hex + "0000000000000007 0000000000000009"));
  const auto answer = wire::parse_answer(payload_of(answered));
  REQUIRE(answer);
  CHECK(answer->from == b);
  CHECK(answer->to == a);
  CHECK(answer->incarnation == 7);
  CHECK(answer->number == 9);
  CHECK(wire::make_credit({15, 0x01020304}) == from_hex("80000006 06 0f 01020304"));
  CHECK(wire::parse_credit(from_hex("06 0f 01020304"))->bytes == 0x01020304);
  CHECK(wire::make_known() == from_hex("80000001 05"));
}

TEST_CASE("flushes and their answers are written and read") {
  const auto asked = wire::make_flush({a, 5, 3, {b}});
  CHECK(asked == from_hex("80000027 09 03" + a_hex + "00000005 01" + b_hex));
  const auto request = wire::parse_flush(payload_of(asked));
  REQUIRE(request);
  CHECK(request->from == a);
  CHECK(request->number == 5);
  CHECK(request->hops == 3);
  CHECK(request->to == std::vector{b});
  const auto answered = wire::make_flushed({a, 5, 16, {b}});
  CHECK(answered == from_hex("80000027 0a 10" + a_hex + "00000005 01" + b_hex));
  const auto answer = wire::parse_flushed(payload_of(answered));
  REQUIRE(answer);
  CHECK(answer->to == a);
  CHECK(answer->number == 5);
  CHECK(answer->hops_left == 16);
  CHECK(answer->from == std::vector{b});
  CHECK_FALSE(wire::parse_flush(from_hex("09 10" + a_hex + "00000005 01" + b_hex)));
  CHECK_FALSE(wire::parse_flush(from_hex("09 03" + a_hex + "00000005 02" + b_hex)));
  CHECK_FALSE(wire::parse_flushed(from_hex("0a 10" + a_hex + "00000005 01" + b_hex + "00")));
}

TEST_CASE("malformed news is none") {
  const std::string head = "03 01" + a_hex + "0000000000000007 0000000000000009";
  CHECK(wire::parse_neighbours(from_hex(head + "00 00")));
  for (const auto& bad :
       {head, head + "00", head + "01 00", head + "00 00 00",
        "03 01" + a_hex + "0000000000000007 0000000000000000 00 00",
        "03 01" + std::string(32, '0') + "0000000000000007 0000000000000009 00 00"})
    CHECK_FALSE(wire::parse_neighbours(from_hex(bad)));
  const std::string wants = "04 01" + a_hex + "0000000000000007 0000000000000009";
  for (const auto& bad : {wants + "ffffffff0f 00", wants + "01 05 2f 00", wants + "01 02 2f61"})
    CHECK_FALSE(wire::parse_filter_report(from_hex(bad)));
  for (const auto* bad : {"06", "06 00 010203", "06 10 01020304", "06 00 01020304 00"})
    CHECK_FALSE(wire::parse_credit(from_hex(bad)));
}

TEST_CASE("no bytes make a reader of news leave its frame") {
  std::mt19937 engine{7};
  const auto report = wire::make_report(filter_report{{a, 1, 2, false}, {"/a", "/bc"}, {"/d"}});
  for (int round = 0; round < 20'000; ++round) {
    auto frame = report;
    for (int i = 0; i < 3; ++i)
      frame[4 + engine() % (frame.size() - 4)] = static_cast<std::byte>(engine());
    frame.resize(frame.size() - engine() % 8);
    wire::parse_filter_report(payload_of(frame));
    wire::parse_neighbours(payload_of(frame));
    wire::parse_question(payload_of(frame));
    wire::parse_answer(payload_of(frame));
    wire::parse_flush(payload_of(frame));
    wire::parse_flushed(payload_of(frame));
  }
}

TEST_CASE("a client names its relays, and not too many") {
  std::vector<endpoint_id> all{id_of(1), id_of(2)};
  CHECK(wire::parse_relays(payload_of(wire::make_relays(all))) == all);
  all.resize(wire::max_relays_named + 1);
  CHECK_FALSE(wire::parse_relays(payload_of(wire::make_relays(all))));
  CHECK_FALSE(wire::parse_relays(from_hex("0f")));
  CHECK_FALSE(wire::parse_relays(from_hex("0f 01")));
}

TEST_CASE("the first byte is the kind, and most bytes are none") {
  CHECK(wire::kind_of(from_hex("10")) == wire::frame_kind::inquiry);
  CHECK(wire::kind_of(from_hex("11")) == wire::frame_kind::reply);
  CHECK(wire::kind_of(from_hex("0a")) == wire::frame_kind::flushed);
  CHECK(wire::kind_of(from_hex("0e")) == wire::frame_kind::served);
  CHECK(wire::kind_of(from_hex("0f")) == wire::frame_kind::relays);
  for (const auto* hex : {"", "00", "12", "ff"})
    CHECK_FALSE(wire::kind_of(from_hex(hex)));
}
