// Ready means ready: from either end.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"

#include <algorithm>
#include <thread>

using namespace pubsub;
using namespace pubsub::test;

TEST_CASE("a subscriber that is ready gets what any node publishes from then on") {
  chain nodes{6};
  join(nodes.front(), nodes.back()); // and a ring
  for (int round = 0; round < 30; ++round) {
    const auto topic = "/fresh/" + std::to_string(round);
    auto sub = nodes.all[2]->make_subscriber({topic});
    REQUIRE(sub.wait_ready(patience));
    for (std::uint64_t i = 0; i < nodes.all.size(); ++i)
      CHECK(nodes.all[i]->publish(topic, count{i}) == publish_result::taken);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < nodes.all.size(); ++i)
      sum += next_number(sub);
    CHECK(sum == 15);
  }
}

TEST_CASE("a topic that was added is ready like the first ones") {
  chain nodes{4};
  auto sub = nodes.back().make_subscriber({"/a"});
  sub.add_topic("/b");
  REQUIRE(sub.wait_ready(patience));
  CHECK(nodes.front().publish("/b", count{1}) == publish_result::taken);
  CHECK(next_number(sub) == 1);
}

TEST_CASE("version-1 peers have read the news when a subscriber is ready") {
  endpoint_options version_1;
  version_1.max_wire_version = 1;
  endpoint stranger{version_1};
  endpoint ep;
  join(stranger, ep);
  for (int round = 0; round < 30; ++round) {
    const auto topic = "/fresh/" + std::to_string(round);
    auto sub = ep.make_subscriber({topic});
    REQUIRE(sub.wait_ready(patience));
    CHECK(stranger.publish(topic, count{7}) == publish_result::taken);
    CHECK(next_number(sub) == 7);
  }
}

TEST_CASE("alone a subscriber is ready at once, and one that is closed never is") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/t"});
  CHECK(sub.wait_ready(std::chrono::seconds{0}));
  sub.close();
  CHECK_FALSE(sub.wait_ready(std::chrono::seconds{0}));
}

TEST_CASE("waiting to be ready ends when the endpoint closes") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/t"});
  std::thread closing{[&] { ep.close(); }};
  (void)sub.wait_ready(patience); // true or false, but not for ever
  closing.join();
  CHECK_FALSE(sub.wait_ready(patience));
}
