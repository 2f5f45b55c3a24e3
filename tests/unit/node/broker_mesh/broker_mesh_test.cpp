// SPDX-License-Identifier: BSD-3-Clause
#include "node/broker_mesh/broker_mesh.hpp"

#include "support/fake_link.hpp"
#include "support/ids.hpp"
#include "wire/broker/envelope.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::test;

namespace {

const auto broker = id_of(50);

struct fixture {
  explicit fixture(bool forwarding = true) : mesh(us, forwarding) {}

  void add(const endpoint_id& who, const filter& subscriptions) {
    mesh.add(who, std::make_shared<fake_link>(loop), subscriptions, {});
    subscribers.add_peer(who, {});
    network.add_broker_peer(who);
    mesh.designate(network, subscribers);
  }
  letters updates() {
    return mesh.take_updates(subscribers, [&] { return network.next_hops(); });
  }
  /// A node with a smaller id comes, and has a link to the Broker peer.
  void add_relay() {
    network.add_neighbour(id_of(1));
    network.receive(id_of(1), neighbours_report{{id_of(1), 1, 1, true}, true, {us, broker}, {}});
    network.neighbour_ready(id_of(1));
    mesh.designate(network, subscribers);
  }

  std::shared_ptr<fake_loop> loop = std::make_shared<fake_loop>();
  node_subscriptions subscribers;
  network_map network{us, 1};
  broker_mesh mesh;
};

} // namespace

TEST_CASE(
    "of the nodes linked with a Broker peer the one with the smallest id is its designated relay") {
  fixture f;
  f.add(broker, {"/a"});
  CHECK(f.mesh.routes()->links.contains(broker));
  CHECK_FALSE(f.mesh.left_to_another(broker));
  CHECK(f.subscribers.remote_index().count("/a") == 1);
  f.add_relay();
  CHECK(f.mesh.routes()->links.empty());
  CHECK(f.mesh.routes()->of_others.contains(broker));
  CHECK(f.mesh.left_to_another(broker));
  CHECK(f.subscribers.remote_index().count("/a") == 0);
  f.network.remove({id_of(1)});
  CHECK(f.mesh.designate(f.network, f.subscribers));
  CHECK(f.mesh.routes()->links.contains(broker));
  CHECK_FALSE(f.mesh.designate(f.network, f.subscribers)); // nothing is new
}

TEST_CASE("a Broker peer is told what is subscribed to by its designated relay alone") {
  fixture f;
  f.add(broker, {});
  f.updates();
  f.subscribers.add_local(1, nullptr, {"/a"});
  auto told = f.updates();
  REQUIRE(told.size() == 1);
  const auto x = wire::parse_envelope(std::span{told[0].frame}.subspan(4));
  REQUIRE(x);
  CHECK(*wire::parse_filter(x->payload) == filter{"/a"});
  CHECK(f.updates().empty());
  f.add_relay();
  told = f.updates();
  REQUIRE(told.size() == 1);
  CHECK(wire::parse_filter(wire::parse_envelope(std::span{told[0].frame}.subspan(4))->payload)
            ->empty());
}

TEST_CASE("a filter that comes while another node is the relay counts once we are") {
  fixture f;
  f.add(broker, {"/a"});
  f.add_relay();
  CHECK_FALSE(f.mesh.set_subscriptions(broker, {"/b"}, f.subscribers));
  CHECK(*f.mesh.subscriptions_of(broker) == filter{"/b"});
  f.network.remove({id_of(1)});
  f.mesh.designate(f.network, f.subscribers);
  CHECK(f.subscribers.remote_index().count("/b") == 1);
  CHECK_FALSE(f.mesh.set_subscriptions(id_of(9), {"/b"}, f.subscribers));
}

TEST_CASE("copies are looked for where there are several Broker peers and messages are passed on") {
  for (const bool forwarding : {true, false}) {
    fixture f{forwarding};
    f.add(broker, {"/a"});
    CHECK_FALSE(f.mesh.routes()->turns_away(broker, "/a", "/a1", 16));
    CHECK_FALSE(f.mesh.routes()->turns_away(broker, "/a", "/a1", 14)); // there is but one peer
    f.add(id_of(51), {"/a"});
    CHECK_FALSE(f.mesh.routes()->turns_away(broker, "/a", "/a2", 16));
    CHECK(f.mesh.routes()->turns_away(id_of(51), "/a", "/a2", 14) == forwarding);
  }
}

TEST_CASE("reserved topics are not probed, nor is a peer without another one to come back from") {
  fixture f;
  f.subscribers.add_local(1, nullptr, {""});
  f.add(broker, {"/a", "<$>/store"});
  CHECK(f.mesh.topics_to_probe(broker, f.subscribers).empty());
  f.add(id_of(51), {""});
  CHECK(f.mesh.topics_to_probe(broker, f.subscribers) == std::vector<std::string>{"/a"});
  CHECK(f.mesh.topics_to_probe(id_of(9), f.subscribers).empty());
}

TEST_CASE("a Broker peer of another node within reach is one to come back from") {
  fixture f;
  f.subscribers.add_local(1, nullptr, {""});
  f.add(broker, {"/a"});
  const auto relay = id_of(200); // we are the designated relay
  f.network.add_neighbour(relay);
  f.network.receive(relay, neighbours_report{{relay, 1, 1, true}, true, {us, id_of(51)}, {}});
  f.network.neighbour_ready(relay);
  f.mesh.designate(f.network, f.subscribers);
  CHECK(f.mesh.topics_to_probe(broker, f.subscribers) == std::vector<std::string>{"/a"});
  f.network.remove({relay});
  f.mesh.designate(f.network, f.subscribers);
  CHECK(f.mesh.topics_to_probe(broker, f.subscribers).empty());
}

TEST_CASE("a peer that is gone leaves neither route nor circle") {
  fixture f;
  f.add(broker, {"/a"});
  f.add(id_of(51), {"/a"});
  CHECK(f.mesh.receive_probe(id_of(51), broker, "/a", {}));
  CHECK(f.mesh.routes()->is_closed(id_of(51), "/a"));
  CHECK(f.mesh.remove(broker));
  CHECK_FALSE(f.mesh.remove(broker));
  f.subscribers.remove_peer(broker);
  f.network.remove({broker});
  f.mesh.designate(f.network, f.subscribers);
  CHECK_FALSE(f.mesh.routes()->is_closed(id_of(51), "/a"));
  CHECK_FALSE(f.mesh.routes()->links.contains(broker));
}
