// What people call an endpoint, and where others see it.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/raw_peer.hpp"

#include <algorithm>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

TEST_CASE("a name is known to peers, in events, and to nodes at any distance") {
  endpoint north{forwarding_on(named("north"))};
  endpoint middle{forwarding_on(named("middle"))};
  endpoint south{forwarding_on(named("south"))};
  endpoint sensor{named("sensor-1")};
  auto events = middle.make_status_subscriber();
  join(north, middle);
  join(south, middle);
  join(sensor, middle);
  CHECK(middle.name() == "middle");
  CHECK(north.peers().at(0).name == "middle");
  CHECK(sensor.peers().at(0).name == "middle");
  CHECK(eventually([&] {
    return std::ranges::any_of(north.nodes(), [&](const node_info& each) {
      return each.id == south.id() && each.name == "south";
    });
  }));
  CHECK(std::ranges::any_of(middle.peers(), [&](const peer_info& each) {
    return each.id == sensor.id() && each.name == "sensor-1" && each.client;
  }));
  CHECK(next_event(events, status_code::peer_added)->name() == "north");
  sensor.close();
  const auto lost = next_event(events, status_code::peer_lost);
  REQUIRE(lost);
  CHECK(lost->name() == "sensor-1");
  CHECK(lost->in_good_order());
  CHECK(middle.status_text().find("\"name\":\"middle\"") != std::string::npos);
}

TEST_CASE("a peer that is away keeps its name, and one that is cut off is not in good order") {
  endpoint a;
  auto events = a.make_status_subscriber();
  {
    endpoint b{named("b")};
    REQUIRE(a.peer(listen(b), {.retry = 1h}));
  }
  REQUIRE(eventually([&] { return a.peers().at(0).state == peer_state::lost; }));
  CHECK(a.peers().at(0).name == "b");
  CHECK(next_event(events, status_code::peer_lost)->in_good_order());

  endpoint_options options;
  options.id = raw_peer::id('1');
  endpoint c{options};
  auto of_c = c.make_status_subscriber();
  {
    raw_peer rude{c, *c.listen("tcp://127.0.0.1:0"), 2};
    REQUIRE(next_event(of_c, status_code::peer_added));
  }
  CHECK_FALSE(next_event(of_c, status_code::peer_lost)->in_good_order());
}

TEST_CASE("a name that could not be shown as it is does no harm and is no option") {
  for (const std::string bad : {"two words", "\x1b[31mred", "Z\xc3\xbcrich", "a\"b"}) {
    CAPTURE(bad);
    const auto checked = check(named(bad));
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code() == errc::invalid_argument);
    CHECK(checked.error().context().find("name") != std::string::npos);
  }
  CHECK(check(named(std::string(64, 'n'))));
  CHECK_FALSE(check(named(std::string(65, 'n'))));
  CHECK_FALSE(endpoint{}.name().empty()); // that of the host
}
