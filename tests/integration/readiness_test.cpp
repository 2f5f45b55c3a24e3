// Ready means ready: from either end.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/proxy.hpp"

#include <optional>
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
  auto known = sub.begin_ready();
  CHECK(known.ready());
  sub.close();
  CHECK_FALSE(sub.wait_ready(std::chrono::seconds{0}));
  CHECK(known.ready()); // it was
  CHECK(sub.begin_ready().closed());
}

TEST_CASE("waiting to be ready ends when the endpoint closes") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/t"});
  std::thread closing{[&] { ep.close(); }};
  (void)sub.wait_ready(patience); // true or false, but not for ever
  closing.join();
  CHECK_FALSE(sub.wait_ready(patience));
}

TEST_CASE("that a subscriber is ready is told by a descriptor, to who does something else") {
  chain nodes{3};
  for (std::uint64_t round = 0; round < 30; ++round) {
    const auto topic = "/fresh/" + std::to_string(round);
    auto sub = nodes.back().make_subscriber({topic});
    const auto known = sub.begin_ready();
    REQUIRE(eventually([&] { return readable(known.fd()); }));
    CHECK(known.ready());
    CHECK_FALSE(known.closed());
    CHECK(nodes.front().publish(topic, count{round}) == publish_result::taken);
    CHECK(next_number(sub) == round);
  }
}

TEST_CASE("a subscriber that others do not know is not ready until they answer, or it is closed") {
  enum class end : std::uint8_t { lost, subscriber, handle_kept, endpoint };
  for (const auto how : {end::lost, end::subscriber, end::handle_kept, end::endpoint})
    for (const std::uint8_t version : {1, 2}) {
      auto brief = speaking(version);
      brief.close_timeout = std::chrono::milliseconds{1}; // no peer answers the goodbyes
      endpoint other{brief};
      const auto port = other.listen("tcp://127.0.0.1:0");
      REQUIRE(port.has_value());
      std::optional<proxy> between{*port};
      brief.max_wire_version = 2;
      endpoint ep{forwarding_on(brief)};
      REQUIRE(ep.peer(local_uri(between->port())).has_value());
      between->swallow_back();
      std::optional sub{ep.make_subscriber({"/t"})};
      auto known = sub->begin_ready();
      CHECK_FALSE(known.wait_for(std::chrono::milliseconds{1}));
      CHECK_FALSE(known.ready());
      CHECK_FALSE(known.closed());
      CHECK_FALSE(readable(known.fd()));
      if (how == end::lost)
        between.reset(); // no node is left that has to know
      else if (how == end::subscriber)
        sub.reset();
      else if (how == end::handle_kept)
        sub->close();
      else
        ep.close();
      CHECK(known.wait_for(patience) == (how == end::lost));
      CHECK(known.closed() == (how != end::lost));
      CHECK(readable(known.fd()));
    }
}
