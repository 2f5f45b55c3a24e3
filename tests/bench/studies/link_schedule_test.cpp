// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "studies/emulator/link_schedule.hpp"
#include "studies/emulator/link_settings.hpp"
#include "studies/emulator/own_costs.hpp"
#include "support/rates.hpp"

namespace {

using emulator::link_schedule;
using pubsub::test::mb_per_s;
using part = link_schedule::part;
using namespace std::chrono_literals;

using time_point = link_schedule::time_point;
const time_point start{1h};

std::size_t taken_by(link_schedule& link, time_point now) {
  std::size_t bytes = 0;
  while (const auto what = link.take(now))
    bytes += what->bytes;
  return bytes;
}

} // namespace

TEST_CASE("bytes come out when they have passed and travelled") {
  link_schedule link{mb_per_s, 20ms, 1000};
  link.enter(start, 1, 1000);
  CHECK(link.next() == start + 21ms);
  CHECK_FALSE(link.take(start + 21ms - 1ns));
  const auto what = link.take(start + 21ms);
  REQUIRE(what);
  CHECK((what->connection == 1 && what->what == part::bytes && what->bytes == 1000));
  CHECK_FALSE(link.take(start + 1h));
  CHECK_FALSE(link.next());
  CHECK(link.held_bytes() == 0);
}

TEST_CASE("without a limit to the rate bytes only travel") {
  link_schedule link{0, 50us, 1460};
  link.enter(start, 1, 1'000'000);
  link.enter(start + 1us, 2, 1);
  CHECK(taken_by(link, start + 50us) == 1'000'000);
  CHECK(link.next() == start + 51us);
  CHECK(taken_by(link, start + 51us) == 1);
}

TEST_CASE("connections share the rate, and each waits for those before it") {
  link_schedule link{mb_per_s, 0ms, 1};
  link.enter(start, 1, 3000);
  link.enter(start, 2, 2000);
  CHECK(taken_by(link, start + 3ms) == 3000);
  CHECK(taken_by(link, start + 4ms) == 1000);
  link.enter(start + 10ms, 1, 1000); // the link was free meanwhile: that is no credit
  CHECK(taken_by(link, start + 10ms) == 1000);
  CHECK(taken_by(link, start + 10ms + 500us) == 500);
}

TEST_CASE(
    "of what entered together pieces come out as they pass, and the rest with its last byte") {
  link_schedule link{mb_per_s, 1ms, 1000};
  link.enter(start, 1, 2500);
  std::vector<std::size_t> pieces;
  while (const auto when = link.next()) {
    const auto what = link.take(*when);
    REQUIRE(what);
    CHECK(*when >= start + 1ms + (pieces.size() + 1) * (pieces.size() < 2 ? 1000us : 800us));
    pieces.push_back(what->bytes);
  }
  CHECK(pieces == std::vector<std::size_t>{1000, 1000, 500});
}

TEST_CASE("the end of a stream comes out after its bytes, and takes no time") {
  link_schedule link{mb_per_s, 5ms, 1460};
  link.enter(start, 1, part::opened);
  link.enter(start, 1, 1000);
  link.enter(start, 1, part::end);
  CHECK(link.take(start + 5ms)->what == part::opened);
  CHECK(link.next() == start + 6ms);
  CHECK(link.take(start + 6ms)->what == part::bytes);
  CHECK(link.take(start + 6ms)->what == part::end);
}

TEST_CASE("a change of the rate is one for what has not passed yet") {
  link_schedule link{mb_per_s, 10ms, 1};
  link.enter(start, 1, 10'000);
  link.enter(start, 2, 10'000);
  link.change(start + 5ms, 2 * mb_per_s, 10ms, 1); // 5000 travel, 15,000 wait
  CHECK(taken_by(link, start + 10ms) == 0);
  CHECK(taken_by(link, start + 15ms) == 5000);
  CHECK(taken_by(link, start + 17ms) == 4000);
  CHECK(taken_by(link, start + 22ms + 500us) == 11'000);
  CHECK(link.held_bytes() == 0);
}

TEST_CASE("on a link that becomes shorter nothing overtakes what travels") {
  link_schedule link{0, 20ms, 1};
  link.enter(start, 1, 100);
  link.change(start + 1ms, 0, 50us, 1);
  link.enter(start + 2ms, 2, 200);
  CHECK(link.next() == start + 20ms);
  CHECK_FALSE(link.take(start + 19ms));
  CHECK(link.take(start + 20ms)->connection == 1);
  CHECK(link.take(start + 20ms)->connection == 2);
}

TEST_CASE("what waits for its turn takes a longer way when the link becomes longer") {
  link_schedule link{mb_per_s, 1ms, 1};
  link.enter(start, 1, 2000);
  link.change(start + 1ms, mb_per_s, 20ms, 1);
  CHECK(taken_by(link, start + 2ms) == 1000);
  CHECK(taken_by(link, start + 21ms) == 0);
  CHECK(taken_by(link, start + 22ms) == 1000);
}

TEST_CASE("small messages at a high rate lose no time to rounding") {
  link_schedule link{5e9, 0ns, 1'000'000};
  for (int i = 0; i < 100'000; ++i)
    link.enter(start, 1, 1); // 1.6 ns each
  CHECK(taken_by(link, start + 160us - 10ns) < 100'000);
  CHECK(taken_by(link, start + 160us + 10ns) > 0);
  CHECK(link.held_bytes() == 0);
}

TEST_CASE("order is kept and no byte is lost or early, whatever changes under way") {
  std::mt19937 dice{8};
  auto upto = [&](int n) { return std::uniform_int_distribution<int>{0, n}(dice); };
  for (int turn = 0; turn < 200; ++turn) {
    link_schedule link{mb_per_s, 1ms, 1};
    auto now = start;
    std::size_t entered = 0;
    std::size_t taken = 0;
    std::vector<std::uint64_t> order; // of connections, whose numbers rise
    for (std::uint64_t id = 1; id <= 100; ++id) {
      now += std::chrono::microseconds{upto(500)};
      const auto bytes = static_cast<std::size_t>(upto(2000) + 1);
      link.enter(now, id, bytes);
      entered += bytes;
      if (upto(9) == 0)
        link.change(now, upto(3) == 0 ? 0 : mb_per_s * (1 + upto(9)) / 4,
                    std::chrono::microseconds{upto(3000)}, static_cast<std::size_t>(upto(500) + 1));
      while (const auto what = link.take(now)) {
        taken += what->bytes;
        order.push_back(what->connection);
      }
      REQUIRE(link.held_bytes() == entered - taken);
    }
    while (const auto when = link.next()) {
      now = std::max(now, *when);
      const auto what = link.take(now);
      REQUIRE(what); // what is announced is there then
      taken += what->bytes;
      order.push_back(what->connection);
    }
    REQUIRE(taken == entered);
    REQUIRE(std::is_sorted(order.begin(), order.end()));
  }
}

TEST_CASE("profiles are those of the article") {
  CHECK(emulator::link_profile("lan") == emulator::link_settings{100us, 5e9, 5e9});
  CHECK(emulator::link_profile("wan") == emulator::link_settings{40ms, 40e6, 7e6});
  CHECK_FALSE(emulator::link_profile("moon"));
}

TEST_CASE("a link has room for two round trips, or for a while of its rate") {
  CHECK(emulator::link_room_bytes(5e9, 100us) == 6'250'000);
  CHECK(emulator::link_room_bytes(1e9, 100ms) == 25'000'000);
  CHECK(emulator::link_room_bytes(7e6, 40ms) == 256 * 1024);
  CHECK(emulator::link_room_bytes(0, 40ms) == 16 * 1024 * 1024);
  CHECK(emulator::link_room_bytes(1e12, 1s) == 256 * 1024 * 1024);
}

TEST_CASE("own costs are taken in proportion, but those of waiting asleep are others") {
  const emulator::own_costs costs{{{100us, 20us}, {300us, 40us}, {10ms, 300us}}};
  CHECK(costs.at(0us) == 20us);
  CHECK(costs.at(200us) == 30us);
  CHECK(costs.at(2ms) == 40us);
  CHECK(costs.at(4ms) == 300us);
  CHECK(costs.at(40ms) == 300us);
  CHECK(emulator::own_costs{}.at(1ms) == 0us);
}
