// Which nodes there are, and what they want: told, not asked for.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/proxy.hpp"

#include <map>
#include <optional>
#include <set>
#include <thread>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

/// What a reader has made of its events, each of which has to fit the ones before.
class picture {
public:
  struct node {
    std::string name;
    bool client = false;
    std::set<std::string> topics;
  };

  explicit picture(endpoint& of) : events_(of.make_network_subscriber()) {}

  /// Reads on until `holds` does; false where nothing comes for long.
  template <class Condition>
  bool reads_until(Condition holds) {
    while (!holds()) {
      const auto event = events_.get_for(patience);
      if (!event)
        return false;
      take(*event);
    }
    return true;
  }
  bool sees(const endpoint& who) {
    return reads_until([&] { return knows(who); });
  }
  bool loses(const endpoint_id& who) {
    return reads_until([&] { return !nodes.contains(who); });
  }
  bool sees(const endpoint& who, const std::string& topic) {
    return reads_until([&] { return knows(who) && nodes[who.id()].topics.contains(topic); });
  }
  bool knows(const endpoint& who) const { return nodes.contains(who.id()); }
  /// All that is there now; how many events that was.
  std::size_t read_rest() {
    std::size_t result = 0;
    for (; const auto event = events_.try_get(); ++result)
      take(*event);
    return result;
  }
  network_subscriber& events() noexcept { return events_; }

  std::map<endpoint_id, node> nodes;
  std::size_t additions = 0;

private:
  void take(const network_event& x) {
    const auto found = nodes.find(x.node);
    CHECK((found == nodes.end()) == (x.change == network_change::node_added));
    switch (x.change) {
    case network_change::node_added:
      nodes[x.node] = {x.name, x.client, {}};
      ++additions;
      break;
    case network_change::node_lost:
      CHECK(found->second.name == x.name);
      nodes.erase(x.node);
      break;
    case network_change::topic_added:
      CHECK(found->second.topics.insert(x.topic).second);
      break;
    case network_change::topic_removed:
      CHECK(found->second.topics.erase(x.topic) == 1);
      break;
    }
  }

  network_subscriber events_;
};

endpoint_options a_client(const std::string& name) {
  auto options = named(name);
  options.forwarding = forwarding::off;
  return options;
}

} // namespace

TEST_CASE("nodes at any distance come and go, and so do the topics that they want") {
  chain nodes{4};
  picture seen{nodes.front()};
  CHECK(seen.reads_until([&] { return seen.nodes.size() == 3; }));
  {
    auto sub = nodes.back().make_subscriber({"/a", "/b"});
    CHECK(seen.sees(nodes.back(), "/a"));
    CHECK(seen.sees(nodes.back(), "/b"));
    sub.add_topic("/c");
    sub.remove_topic("/a");
    CHECK(seen.reads_until([&] {
      return seen.nodes[nodes.back().id()].topics == std::set<std::string>{"/b", "/c"};
    }));
  }
  CHECK(seen.reads_until([&] { return seen.nodes[nodes.back().id()].topics.empty(); }));
  const auto gone = nodes.back().id();
  nodes.all.pop_back();
  CHECK(seen.loses(gone));
  CHECK(seen.nodes.size() == 2);
  CHECK(picture{nodes.front()}.sees(nodes.back()));
}

TEST_CASE("a node that is seen to want a topic is reached by what is published from then on") {
  chain nodes{4};
  picture seen{nodes.front()};
  for (std::uint64_t round = 0; round < 30; ++round) {
    const auto topic = "/fresh/" + std::to_string(round);
    auto sub = nodes.back().make_subscriber({topic});
    REQUIRE(seen.sees(nodes.back(), topic));
    CHECK(nodes.front().publish(topic, count{round}) == publish_result::taken);
    CHECK(next_number(sub) == round);
  }
}

TEST_CASE("a relay sees its clients, by name, and nobody else does") {
  endpoint relay{forwarding_on(named("relay"))};
  endpoint other{forwarding_on(named("other"))};
  endpoint client{a_client("client")};
  join(other, relay);
  join(client, relay);
  auto sub = client.make_subscriber({"/a"});
  REQUIRE(sub.wait_ready(patience));
  picture near{relay};
  CHECK(near.sees(client, "/a"));
  CHECK(near.nodes[client.id()].client);
  CHECK(near.nodes[client.id()].name == "client");
  CHECK(near.sees(other));
  CHECK_FALSE(near.nodes[other.id()].client);
  picture far{other};
  CHECK(far.sees(relay, "/a")); // the relay wants what its clients do
  CHECK(far.nodes.size() == 1);
  CHECK(far.nodes[relay.id()].name == "relay");
  picture below{client};
  auto elsewhere = other.make_subscriber({"/b"});
  CHECK(below.sees(relay));
  CHECK(below.nodes[relay.id()].name == "relay");
  client.close();
  CHECK(near.loses(client.id()));
  below.reads_until([&] { return below.nodes.empty(); });
  CHECK(below.events().try_get().closed());
}

TEST_CASE("nodes behind a connection that breaks are lost") {
  chain far{2};
  std::optional<proxy> between{*far.front().listen("tcp://127.0.0.1:0")};
  endpoint hub{forwarding_on()};
  REQUIRE(hub.peer(local_uri(between->port()), {.retry = std::nullopt}));
  picture seen{hub};
  REQUIRE(seen.reads_until([&] { return seen.nodes.size() == 2; }));
  between.reset();
  CHECK(seen.reads_until([&] { return seen.nodes.empty(); }));
}

TEST_CASE("a node that starts again under its id is lost and added, though nobody has read") {
  auto same = forwarding_on(named("it"));
  same.id = endpoint_id::random();
  chain nodes{2};
  const auto address = listen(nodes.back());
  auto it = std::make_unique<endpoint>(same);
  REQUIRE(it->peer(address));
  picture seen{nodes.front()};
  REQUIRE(seen.reads_until([&] { return seen.nodes.size() == 2; }));
  REQUIRE(seen.knows(*it));
  it.reset();
  it = std::make_unique<endpoint>(same);
  auto sub = it->make_subscriber({"/a"});
  REQUIRE(it->peer(address));
  REQUIRE(nodes.front().wait_for_subscribers("/a", 1, patience));
  CHECK(seen.events().available());
  CHECK(seen.sees(*it, "/a"));
  CHECK(seen.additions == 3);
}

TEST_CASE("a node that comes and goes while nobody reads leaves nothing to read") {
  chain nodes{2};
  picture seen{nodes.front()};
  REQUIRE(seen.sees(nodes.back()));
  const auto address = listen(nodes.back());
  const auto reached = [&](const endpoint& who) {
    return std::ranges::any_of(nodes.front().nodes(), [&](const node_info& each) {
      return each.id == who.id() && !each.next_hop.is_nil();
    });
  };
  endpoint guest{forwarding_on()};
  for (int round = 0; round < 20; ++round) {
    REQUIRE(guest.peer(address));
    REQUIRE(eventually([&] { return reached(guest); }));
    REQUIRE(guest.unpeer(address, patience));
    REQUIRE(eventually([&] { return !reached(guest); }));
  }
  CHECK(seen.read_rest() == 0);
  CHECK(seen.nodes.size() == 1);
}

TEST_CASE("the descriptor of network events is readable as long as there is one") {
  endpoint hub{forwarding_on()};
  auto events = hub.make_network_subscriber();
  const auto fd = events.fd();
  CHECK_FALSE(readable(fd));
  CHECK_FALSE(events.available());
  CHECK(events.try_get().timed_out());
  endpoint guest{forwarding_on()};
  auto sub = guest.make_subscriber({"/a"});
  join(guest, hub);
  REQUIRE(eventually([&] { return readable(fd); }));
  REQUIRE(hub.wait_for_subscribers("/a", 1, patience));
  CHECK(events.available());
  CHECK(events.get()->change == network_change::node_added);
  CHECK(readable(fd));
  const auto topic = events.get();
  CHECK(topic->change == network_change::topic_added);
  CHECK(topic->topic == "/a");
  CHECK_FALSE(events.available());
  CHECK_FALSE(readable(fd));
}

TEST_CASE("an endpoint that closes ends a wait for network events, after what is left") {
  auto nodes = std::make_unique<chain>(3);
  picture seen{nodes->front()};
  REQUIRE(seen.sees(nodes->back()));
  std::thread reader{[&] { CHECK_FALSE(seen.reads_until([] { return false; })); }};
  nodes->front().close();
  reader.join();
  CHECK(seen.nodes.empty());
  CHECK(seen.events().get().closed());
  CHECK(readable(seen.events().fd()));
  nodes.reset(); // the handle outlives its endpoint
  CHECK(seen.events().get_for(1ms).closed());
  endpoint open;
  auto events = open.make_network_subscriber();
  std::thread waiting{[&] { CHECK(events.get().closed()); }};
  events.close();
  waiting.join();
  endpoint closed;
  closed.close();
  CHECK(closed.make_network_subscriber().get().closed());
}

TEST_CASE("while others come and go all readers of network events come to the same picture") {
  endpoint hub{forwarding_on()};
  const auto address = listen(hub);
  auto fast = std::make_unique<picture>(hub);
  picture slow{hub};
  const auto come_and_go = [&](unsigned which) {
    for (int round = 0; round < 15; ++round) {
      endpoint guest{which % 2 == 0 ? forwarding_on() : a_client("client")};
      REQUIRE(guest.peer(address));
      auto sub = guest.make_subscriber({"/" + std::to_string(which)});
      REQUIRE(sub.wait_ready(patience));
    }
  };
  std::vector<std::thread> guests;
  for (unsigned which = 0; which < 3; ++which)
    guests.emplace_back(come_and_go, which);
  endpoint last{forwarding_on()};
  std::thread reader{[&] { CHECK(fast->sees(last, "/last")); }};
  for (auto& each : guests)
    each.join();
  auto sub = last.make_subscriber({"/last"});
  REQUIRE(last.peer(address));
  reader.join();
  for (auto* each : {fast.get(), &slow})
    CHECK(each->reads_until([&] { return each->nodes.size() == 1 && each->knows(last); }));
}
