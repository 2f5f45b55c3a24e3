// SPDX-License-Identifier: BSD-3-Clause
#include "base/counter_sums.hpp"

#include <pubsub/counters.hpp>

#include <doctest/doctest.h>

using namespace pubsub;

TEST_CASE("each member is added to the one of its name") {
  link_counters sum{.offered = 1, .sent = 2, .bytes_received = 3};
  add_to(sum, link_counters{.offered = 10, .queued = 20, .bytes_received = 30});
  CHECK(sum.offered == 11);
  CHECK(sum.sent == 2);
  CHECK(sum.queued == 20);
  CHECK(sum.bytes_received == 33);
}

TEST_CASE("members of members are added, too") {
  endpoint_counters sum;
  sum.links.sent = 1;
  endpoint_counters more;
  more.silent_peers = 1;
  more.subscribers.offered = 2;
  more.links.sent = 3;
  add_to(sum, more);
  CHECK(sum.silent_peers == 1);
  CHECK(sum.subscribers.offered == 2);
  CHECK(sum.links.sent == 4);
}
