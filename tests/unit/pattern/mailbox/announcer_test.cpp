// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/mailbox/announcer.hpp"

#include "support/eventually.hpp"

#include <pubsub/data_writer.hpp>
#include <pubsub/subscriber.hpp>

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::test;
using namespace pubsub::pattern;
using namespace std::chrono_literals;

namespace {

/// An announcer whose clock is driven by hand.
struct announcer_by_hand {
  endpoint ep;
  std::shared_ptr<endpoint> at = ep.share();
  announcer hello{at};
  announcer::time now{1h};

  void announce() {
    data_writer out;
    out.write_count(1);
    hello.announce(out.bytes(), now);
  }
};

} // namespace

TEST_CASE("an announcer without a topic is never due") {
  announcer_by_hand x;
  CHECK_FALSE(x.hello.is_due(x.now));
  CHECK(x.hello.next() == announcer::time::max());
}

TEST_CASE("announcements are due at once, and further and further apart, but not for ever") {
  announcer_by_hand x;
  x.hello.add("a");
  CHECK(x.hello.is_due(x.now));
  announcer::time::duration last{0};
  for (int i = 0; i < 20; ++i) {
    x.announce();
    CHECK_FALSE(x.hello.is_due(x.now));
    const auto pause = x.hello.next() - x.now;
    CHECK(pause >= last);
    CHECK(pause <= tuning::longest_announcement_pause);
    last = pause;
    x.now = x.hello.next();
    CHECK(x.hello.is_due(x.now));
  }
  CHECK(last == tuning::longest_announcement_pause);
}

TEST_CASE("a topic that is added makes the next announcement due at once, one that is known not") {
  announcer_by_hand x;
  x.hello.add("a");
  for (int i = 0; i < 20; ++i)
    x.announce();
  x.hello.add("a");
  CHECK_FALSE(x.hello.is_due(x.now));
  x.hello.add("b");
  CHECK(x.hello.is_due(x.now));
  x.announce();
  CHECK(x.hello.next() - x.now == tuning::first_announcement_pause);
}

TEST_CASE("an announcement goes to all topics, and it is known whether a partner listens") {
  announcer_by_hand x;
  x.hello.add("a");
  x.hello.add("b");
  CHECK_FALSE(x.hello.is_heard());
  auto one = x.ep.make_subscriber(filter{"a"});
  auto other = x.ep.make_subscriber(filter{"b"});
  CHECK(x.hello.is_heard());
  x.announce();
  for (auto* const each : {&one, &other})
    CHECK(each->get_for(patience).has_value());
}
