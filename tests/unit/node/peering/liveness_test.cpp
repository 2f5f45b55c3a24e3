// SPDX-License-Identifier: BSD-3-Clause
#include "node/peering/liveness.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace std::chrono_literals;

namespace {

using verdict = liveness::verdict;

/// A link whose clock and bytes are moved by hand.
struct watched {
  explicit watched(liveness::span timeout) : life(timeout) { look(); }

  verdict look() {
    now += life.interval();
    return life.look(now, seen);
  }
  /// Looks until dead; the time that took, or nothing if it lives on.
  std::chrono::milliseconds dies_within(std::chrono::milliseconds limit) {
    const auto begin = now;
    while (now - begin < limit)
      if (look() == verdict::dead)
        return std::chrono::duration_cast<std::chrono::milliseconds>(now - begin);
    return {};
  }

  liveness life;
  liveness::picture seen;
  liveness::time_point now{1h};
};

} // namespace

TEST_CASE("a peer that is silent for the whole timeout is dead, and not before") {
  for (const auto timeout : {200ms, 1000ms, 30'000ms, 60'000ms}) {
    watched x{timeout};
    x.seen.bytes_heard = 1;
    CHECK(x.look() == verdict::speak);
    const auto died = x.dies_within(10 * timeout);
    CHECK(died >= timeout);
    CHECK(died <= timeout + x.life.interval());
  }
}

TEST_CASE("links are looked at every five seconds, or four times in a shorter timeout") {
  CHECK(liveness{0s}.interval() == 5s);
  CHECK(liveness{30s}.interval() == 5s);
  CHECK(liveness{2s}.interval() == 500ms);
}

TEST_CASE("any byte heard starts over") {
  watched x{30'000ms};
  for (int round = 0; round < 100; ++round) {
    ++x.seen.bytes_heard;
    for (int i = 0; i < 6; ++i)
      CHECK(x.look() != verdict::dead);
  }
  CHECK(x.dies_within(60s) > 0ms);
}

TEST_CASE("who wrote nothing since the last look speaks, at least every five seconds") {
  watched x{30'000ms};
  CHECK(x.life.interval() == 5s);
  CHECK(x.look() == verdict::speak);
  ++x.seen.bytes_written;
  CHECK(x.look() == verdict::alive);
  CHECK(x.look() == verdict::speak);
  CHECK(liveness{0ms}.interval() == 5s);
  CHECK(liveness{200ms}.interval() == 50ms);
  CHECK(liveness{1ms}.interval() >= 1ms);
}

TEST_CASE("without a timeout nobody dies") {
  watched x{0ms};
  CHECK(x.dies_within(48h) == 0ms);
}

TEST_CASE("time in which reading is paused is no silence") {
  watched x{1000ms};
  x.seen.paused = true;
  CHECK(x.dies_within(1h) == 0ms);
  x.seen.paused = false;
  CHECK(x.dies_within(1h) >= 1000ms);
}

TEST_CASE("a pause between two looks starts over") {
  watched x{1000ms};
  for (int i = 0; i < 1000; ++i) {
    ++x.seen.pauses;
    CHECK(x.look() != verdict::dead);
    CHECK(x.look() != verdict::dead);
    CHECK(x.look() != verdict::dead);
  }
}

TEST_CASE("a process that was stopped itself blames nobody for it") {
  watched x{30'000ms};
  ++x.seen.bytes_heard;
  for (int i = 0; i < 5; ++i)
    CHECK(x.look() != verdict::dead);
  x.now += 24h;
  CHECK(x.look() != verdict::dead);
  ++x.seen.bytes_heard; // what waited in the socket meanwhile
  CHECK(x.look() != verdict::dead);
}

TEST_CASE("two sides that do nothing but speak when told to keep each other alive") {
  constexpr std::uint64_t ping_bytes = 50;
  watched a{200ms};
  watched b{200ms};
  for (int i = 0; i < 1000; ++i) {
    const auto said_a = a.look();
    const auto said_b = b.look();
    REQUIRE(said_a != verdict::dead);
    REQUIRE(said_b != verdict::dead);
    if (said_a == verdict::speak) {
      a.seen.bytes_written += ping_bytes;
      b.seen.bytes_heard += ping_bytes;
    }
    if (said_b == verdict::speak) {
      b.seen.bytes_written += ping_bytes;
      a.seen.bytes_heard += ping_bytes;
    }
  }
}
