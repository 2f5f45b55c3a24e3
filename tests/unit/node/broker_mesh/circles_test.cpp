// SPDX-License-Identifier: BSD-3-Clause
#include "node/broker_mesh/circles.hpp"
#include "support/ids.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

bool is_closed(const circles& all, const endpoint_id& peer, std::string_view topic) {
  const auto found = all.closed()->find(peer);
  return found != all.closed()->end() && found->second.matches(topic);
}

const circles::time start{};

} // namespace

TEST_CASE("of two peers in a circle the one with the larger id is closed, for these topics alone") {
  circles all;
  CHECK_FALSE(all.note(id_of(1), id_of(2), "/t", start)); // there the other one is closed
  CHECK(all.closed()->empty());
  CHECK(all.note(id_of(2), id_of(1), "/t", start));
  CHECK_FALSE(all.note(id_of(2), id_of(2), "/t", start));
  CHECK(is_closed(all, id_of(2), "/t"));
  CHECK(is_closed(all, id_of(2), "/t/x"));
  CHECK_FALSE(is_closed(all, id_of(2), "/"));
  CHECK_FALSE(is_closed(all, id_of(1), "/t"));
  CHECK(all.note(id_of(2), id_of(1), "/u", start));
  CHECK(is_closed(all, id_of(2), "/t"));
  CHECK(is_closed(all, id_of(2), "/u"));
}

TEST_CASE("a circle is open again some time after the last probe that came back") {
  circles all;
  CHECK(all.note(id_of(2), id_of(1), "/t", start));
  CHECK_FALSE(all.note(id_of(2), id_of(1), "/t", start + 2s)); // nothing new
  CHECK_FALSE(all.expire(start + 2s + circles::memory));
  CHECK(is_closed(all, id_of(2), "/t"));
  CHECK(all.expire(start + 2s + circles::memory + 1ms));
  CHECK(all.closed()->empty());
  CHECK_FALSE(all.expire(start + 10s));
}

TEST_CASE("a circle is open again when one of its peers is gone") {
  for (const auto gone : {id_of(1), id_of(2)}) {
    circles all;
    CHECK(all.note(id_of(2), id_of(1), "/t", start));
    CHECK(all.note(id_of(4), id_of(3), "/t", start));
    CHECK(all.keep_if([&](const auto& id) { return id != gone; }));
    CHECK_FALSE(is_closed(all, id_of(2), "/t"));
    CHECK(is_closed(all, id_of(4), "/t"));
    CHECK_FALSE(all.keep_if([](const auto&) { return true; }));
  }
}

TEST_CASE("a peer that claims circles for ever more topics is believed so many times") {
  circles all;
  for (std::size_t i = 0; i < circles::max_topics; ++i)
    CHECK(all.note(id_of(2), id_of(1), "/t" + std::to_string(i) + ".", start));
  CHECK_FALSE(all.note(id_of(2), id_of(1), "/another", start));
  CHECK_FALSE(is_closed(all, id_of(2), "/another"));
}
