// What nodes at any distance tell, and where a message would go.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/raw_peer.hpp"
#include "wire/native/inquiry.hpp"

#include <thread>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

/// Relays a, b and c in a row, and an endpoint at each end that is a client.
struct three_relays {
  three_relays() {
    options_.forwarding = forwarding::off;
    for (const auto* name : {"a", "b", "c"})
      relays.push_back(std::make_unique<endpoint>(forwarding_on(named(name))));
    for (std::size_t i = 0; i + 1 < relays.size(); ++i)
      join(*relays[i], *relays[i + 1]);
    options_.name = "left";
    left = std::make_unique<endpoint>(options_);
    options_.name = "right";
    right = std::make_unique<endpoint>(options_);
    join(*left, *relays.front());
    join(*right, *relays.back());
  }
  endpoint& b() { return *relays[1]; }
  endpoint& c() { return *relays[2]; }

  std::vector<std::unique_ptr<endpoint>> relays;
  std::unique_ptr<endpoint> left, right;

private:
  endpoint_options options_;
};

/// A raw peer that `near` reaches over a relay.
struct behind_a_relay {
  behind_a_relay() {
    REQUIRE(near.peer(local_uri(port)));
    // It has a link to 11.., the relay.
    CHECK(raw.wire.send("80000034 03 03" + std::string(32, 'f') +
                        "0000000000000001 0000000000000002 01" + std::string(32, '1') + "00"));
    REQUIRE(eventually([&] { // both know of the way
      return std::ranges::any_of(near.nodes(), [](const node_info& x) {
        return x.id == raw_peer::id() && !x.next_hop.is_nil();
      });
    }));
  }
  static endpoint_options options_of_relay() {
    auto options = forwarding_on(named("middle"));
    options.id = raw_peer::id('1'); // else the raw peer decides about the version
    return options;
  }

  endpoint near{forwarding_on(named("near"))};
  endpoint middle{options_of_relay()};
  const std::uint16_t port = *middle.listen("tcp://127.0.0.1:0");
  raw_peer raw{middle, port, 2};
};

bool tells_of(const expected<std::string>& text, const endpoint& who) {
  return text && text->find("\"id\":\"" + to_string(who.id()) + '"') != std::string::npos;
}

std::vector<std::string> names_of(const std::vector<trace_hop>& all) {
  std::vector<std::string> result;
  for (const auto& each : all)
    result.push_back(each.name);
  return result;
}

/// The hop that calls itself this; fails the test where there is none.
const trace_hop& hop_at(const std::vector<trace_hop>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &trace_hop::name);
  REQUIRE(found != all.end());
  return *found;
}

bool remarks(const trace_hop& x, std::string_view text) {
  return std::ranges::any_of(
      x.remarks, [&](const auto& each) { return each.find(text) != std::string::npos; });
}

} // namespace

TEST_CASE("any node tells its status over any number of relays, to relays and clients alike") {
  three_relays net;
  for (const auto* asks : {net.left.get(), net.right.get(), net.relays[0].get()})
    for (const auto& each : net.relays) {
      CHECK(tells_of(asks->status_of(each->id(), patience), *each));
      CHECK(tells_of(asks->network_of(each->id(), patience), *each));
    }
  CHECK(tells_of(net.c().status_of(net.right->id(), patience), *net.right)); // its own client
  const auto far = net.left->status_of(net.right->id(), patience);           // of another relay
  CHECK(far.error() == errc::no_path_to_peer);
  CHECK(net.left->status_of(endpoint_id::random(), patience).error() == errc::no_path_to_peer);
  CHECK(net.left->status_of({}, patience).error() == errc::no_path_to_peer);
  CHECK(tells_of(net.left->status_of(net.left->id(), 0s), *net.left));
  const auto cut = net.left->status_of(net.c().id(), patience, 1000);
  REQUIRE(cut);
  CHECK(cut->size() <= 1000);
}

TEST_CASE("many ask the same far node at once, and each gets its answer") {
  three_relays net;
  std::vector<std::thread> askers;
  for (int i = 0; i < 8; ++i)
    askers.emplace_back([&, i] {
      auto& asks = i % 2 == 0 ? *net.left : *net.relays[0];
      for (int n = 0; n < 30; ++n)
        CHECK(tells_of(asks.status_of(net.c().id(), patience), net.c()));
    });
  for (auto& each : askers)
    each.join();
}

TEST_CASE("a node that is asked over others and does not answer is a timeout; so is its trace") {
  behind_a_relay mute;
  CHECK(mute.near.status_of(raw_peer::id(), 300ms).error() == errc::request_timeout);
  const auto traced = mute.near.trace("/t", 2s); // the mute peer wants everything
  REQUIRE(traced);
  REQUIRE(traced->size() == 3);
  CHECK(traced->at(1).name == "middle");
  CHECK(traced->at(1).outcome == trace_outcome::reached);
  CHECK(traced->at(2).node == raw_peer::id());
  CHECK(traced->at(2).outcome == trace_outcome::no_answer);
}

TEST_CASE("a link that is lost while a question is under way ends it") {
  behind_a_relay leaves;
  std::thread peer{[&] {
    leaves.raw.next_of_kind(16);
    leaves.raw.wire.close();
  }};
  CHECK(leaves.near.status_of(raw_peer::id(), patience).error() == errc::peer_unavailable);
  peer.join();
}

TEST_CASE("a trace lists every node that the message comes to, and what it finds there") {
  three_relays net;
  auto here = net.right->make_subscriber({"/t"});
  auto on_the_way = net.b().make_subscriber({"/t/x"});
  REQUIRE(here.wait_ready(patience));
  REQUIRE(on_the_way.wait_ready(patience));
  const auto all = net.left->trace("/t/x", patience);
  REQUIRE(all);
  CHECK(names_of(*all) == std::vector<std::string>{"left", "a", "b", "c", "right"});
  for (std::size_t i = 0; i < all->size(); ++i) {
    const auto& each = all->at(i);
    CAPTURE(each.name);
    CHECK(each.outcome == trace_outcome::reached);
    CHECK(each.from == (i == 0 ? endpoint_id{} : all->at(i - 1).node));
    CHECK((each.round_trip > 0us) == (i > 0));
    CHECK(each.round_trip < patience);
    CHECK(each.remarks.empty());
    CHECK(each.subscribers == (each.name == "b" || each.name == "right" ? 1 : 0));
  }
  REQUIRE(net.left->publish("/t/x", 1) == publish_result::taken); // no subscriber reads it
  CHECK(eventually([&] { return here.available() == 1; }));
  const auto later = net.left->trace("/t/x", patience);
  REQUIRE(later);
  CHECK(hop_at(*later, "right").waiting == 1);
  CHECK(here.counters().offered == 1); // traces are no messages
}

TEST_CASE("a trace of what nobody wants says so, at the relay that knows it") {
  three_relays net;
  const auto all = net.left->trace("/nobody", patience);
  REQUIRE(all);
  CHECK(names_of(*all) == std::vector<std::string>{"left", "a"});
  CHECK(remarks(all->back(), "nobody wants this topic"));
  CHECK(net.left->trace(std::string(70'000, 'x'), patience).error() == errc::invalid_argument);
}

TEST_CASE("a trace splits where the message does, and names peers of version 1 without asking") {
  endpoint hub{forwarding_on(named("hub"))};
  const auto uri = listen(hub);
  std::vector<std::unique_ptr<endpoint>> all;
  std::vector<subscriber> subs;
  for (const std::uint8_t version : {1, 2, 2}) {
    auto options = speaking(version);
    options.name = "n" + std::to_string(all.size());
    all.push_back(std::make_unique<endpoint>(options));
    REQUIRE(all.back()->peer(uri));
    subs.push_back(all.back()->make_subscriber({"/t"}));
    REQUIRE(hub.wait_for_subscribers("/t", subs.size(), patience));
  }
  const auto traced = hub.trace("/t", patience);
  REQUIRE(traced);
  REQUIRE(traced->size() == 4);
  for (std::size_t i = 1; i < 4; ++i) {
    const auto& each = traced->at(i);
    CHECK(each.from == hub.id());
    const bool old = each.node == all[0]->id();
    CHECK(each.outcome == (old ? trace_outcome::broker_peer : trace_outcome::reached));
    CHECK(each.subscribers == (old ? 0 : 1));
  }
}

TEST_CASE("who may not inspect asks its relay how it is, and nothing else") {
  access_rule guest{.name = "guest", .anonymous = true};
  guest.publish = filter{"/in/"};
  auto options = forwarding_on(named("gate"));
  options.access = access_rules{guest};
  endpoint gate{options};
  endpoint asks{named("asks")};
  REQUIRE(asks.peer(listen(gate)));
  auto sub = gate.make_subscriber({"/in/", "/out/"});
  CHECK(tells_of(asks.status_of(gate.id(), patience), gate));
  CHECK(asks.network_of(gate.id(), patience).error() == errc::denied);
  const auto refused = asks.trace("/in/x", patience);
  REQUIRE(refused);
  CHECK(hop_at(*refused, "gate").outcome == trace_outcome::refused);
  CHECK(remarks(hop_at(*refused, "gate"), "no right to inspect"));
  guest.inspect = true;
  REQUIRE(gate.set_access(access_rules{guest}));
  CHECK(asks.network_of(gate.id(), patience));
  const auto allowed = asks.trace("/in/x", patience);
  REQUIRE(allowed);
  CHECK(hop_at(*allowed, "gate").subscribers == 1);
  const auto denied = asks.trace("/out/x", patience);
  REQUIRE(denied);
  CHECK(hop_at(*denied, "gate").subscribers == 0);
  CHECK(remarks(hop_at(*denied, "gate"), "may not publish on this topic"));
}

TEST_CASE("what a peer says of others in a trace does not stand for what others say") {
  endpoint_options small;
  small.id = raw_peer::id('1');
  small.name = "asks";
  endpoint asks{forwarding_on(small)};
  raw_peer liar{asks, *asks.listen("tcp://127.0.0.1:0"), 2};
  const std::vector<std::string> bodies = {
      wire::write_hops(std::vector{trace_hop{.node = asks.id(),
                                             .name = "somebody else",
                                             .from = far_id(),
                                             .outcome = trace_outcome::refused,
                                             .subscribers = 7}},
                       1'000),
      "no hops at all",
  };
  std::thread answers{[&] {
    for (const auto& body : bodies)
      if (const auto asked = wire::parse_inquiry(liar.next_of_kind(16)))
        CHECK(liar.wire.send(wire::make_reply({.number = asked->number, .body = body})));
  }};
  const auto first = asks.trace("/t", patience);
  REQUIRE(first);
  REQUIRE(first->size() == 2);
  CHECK(first->at(1).node == raw_peer::id());
  CHECK(first->at(1).name.empty());
  CHECK(first->at(1).from == asks.id());
  CHECK(first->at(1).outcome == trace_outcome::reached);
  const auto second = asks.trace("/t", patience);
  REQUIRE(second);
  REQUIRE(second->size() == 2);
  CHECK(second->at(1).outcome == trace_outcome::refused);
  CHECK(remarks(second->at(1), "makes no sense"));
  answers.join();
}
