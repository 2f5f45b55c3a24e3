// SPDX-License-Identifier: BSD-3-Clause
#include "top/network_model.hpp"

#include <doctest/doctest.h>

#include "reports.hpp"

using namespace pubsub;
using namespace pubsub::test;
using namespace pubsub::tool;
using namespace std::chrono_literals;

namespace {

/// A network of which the entry `a` has answered.
network_model with_entry(node_report first) {
  network_model model{"asker"};
  model.take_entry("a");
  model.take_status(std::move(first), at(0s));
  return model;
}

known_node_report known(const std::string& id) {
  return {.id = id, .name = "name-of-" + id, .reachable = true, .relays = true};
}

} // namespace

TEST_CASE("rates of a node are those between its last two answers, by its own clock") {
  auto first = node("a", 10);
  first.peers = {
      peer("b", {{"received", 100}, {"sent", 10}, {"bytes_received", 1000}, {"queued", 3}})};
  auto model = with_entry(first);
  CHECK_FALSE(model.nodes(at(0s))[0].rates_known);
  auto second = node("a", 12);
  second.peers = {
      peer("b", {{"received", 300}, {"sent", 20}, {"bytes_received", 5000}, {"queued", 4}})};
  model.take_status(second, at(100s));
  const auto x = model.nodes(at(100s))[0];
  CHECK(x.rates_known);
  CHECK(x.name == "name-of-a");
  CHECK(x.state == "ok");
  CHECK(x.in == 100);
  CHECK(x.out == 5);
  CHECK(x.bytes_in == 2000);
  CHECK(x.queued == 4);
  CHECK(x.full == doctest::Approx(0.04));
  CHECK(x.up_s == 12);
}

TEST_CASE("a node that has started again has no rates until it answers twice") {
  auto first = node("a", 1000);
  first.peers = {peer("b", {{"received", 100}})};
  auto model = with_entry(first);
  for (const double up : {1.0, 3.0}) {
    auto next = node("a", up);
    next.peers = {peer("b", {{"received", static_cast<std::uint64_t>(10 * up)}})};
    model.take_status(next, at(1s));
    CHECK(model.nodes(at(1s))[0].rates_known == (up > 1));
  }
  CHECK(model.nodes(at(1s))[0].in == 10);
}

TEST_CASE("the link to the program that asks is not counted") {
  const auto answer = [](double up, std::uint64_t bytes) {
    auto x = node("a", up);
    x.all_links = counters({{"received", 50}, {"bytes_sent", 1000 + bytes}});
    x.peers = {client("asker", {{"bytes_sent", bytes}}), peer("b", {{"received", 50}})};
    return x;
  };
  auto model = with_entry(answer(1, 0));
  model.take_status(answer(2, 64'000), at(1s));
  const auto x = model.nodes(at(1s))[0];
  CHECK(x.bytes_out == 0);
  CHECK(x.clients == 0);
  CHECK(x.links == 1);
  CHECK(model.links("a", clients_shown::unfolded).size() == 1);
}

TEST_CASE("losses have their reasons, with links that are gone, and the most frequent first") {
  const auto answer = [](double up, std::uint64_t more) {
    auto x = node("a", up);
    x.counters = counters({{"ttl_expired", 1}});
    x.all_links = counters({{"dropped_oldest", 10 + more}, {"dropped_gone", 4}, {"conflated", 99}});
    x.all_subscribers = counters({{"dropped_oldest", 5}});
    return x;
  };
  auto model = with_entry(answer(1, 0));
  model.take_status(answer(3, 8), at(2s));
  const auto x = model.nodes(at(2s))[0];
  REQUIRE(x.losses.size() == 4);
  CHECK(x.losses[0].reason == "queue full (oldest)");
  CHECK(x.losses[0].count == 18);
  CHECK(x.losses[0].rate == 4);
  CHECK(x.losses[1].reason == "subscriber full (oldest)");
  CHECK(x.dropped() == 28);
  CHECK(x.drops() == 4);
  CHECK(x.how == health::dropping);
  CHECK(model.summary(at(2s)).text.find("losing 4 messages/s") != std::string::npos);
  model.take_status(answer(5, 8), at(4s));
  CHECK(model.nodes(at(4s))[0].how == health::good);
}

TEST_CASE("a node that does not answer is shown with the time since it did") {
  auto model = with_entry(node("a", 1));
  model.take_network({.nodes = {known("b")}});
  CHECK(find(model.nodes(at(1s)), "b").how == health::asked);
  model.take_status(node("b", 1), at(1s));
  model.take_status(node("b", 3), at(3s));
  model.take_failure("b", error{errc::request_timeout});
  const auto x = find(model.nodes(at(15s)), "b");
  CHECK(x.how == health::silent);
  CHECK(x.state == "silent 12s");
  CHECK(x.silent_s == 12);
  CHECK_FALSE(x.rates_known);
  CHECK(model.summary(at(15s)).text ==
        "2 nodes, 0 clients, 1 not answering; name-of-b is silent 12s");
  model.take_status(node("b", 20), at(16s));
  CHECK(find(model.nodes(at(16s)), "b").state == "ok");
}

TEST_CASE("a node that the network does not know any more is silent, until it is forgotten") {
  auto model = with_entry(node("a", 1));
  model.take_network({.nodes = {known("b"), known("c")}});
  model.take_network({.nodes = {known("c")}});
  CHECK(find(model.nodes(at(1s)), "b").how == health::silent);
  CHECK(model.ids() == std::vector<std::string>{"a", "c"});
  model.take_network({.nodes = {{.id = "c", .name = "", .reachable = false, .relays = true}}});
  CHECK(find(model.nodes(at(1s)), "c").how == health::silent);
  model.forget_silent();
  CHECK(model.nodes(at(1s)).size() == 1);
}

TEST_CASE("a node that may not be asked is no silent one") {
  auto model = with_entry(node("a", 1));
  model.take_network({.nodes = {known("b"), known("c")}});
  model.take_failure("b", error{errc::not_supported});
  model.take_failure("c", error{errc::denied});
  for (const auto* id : {"b", "c"})
    CHECK(find(model.nodes(at(1s)), id).how == health::untold);
}

TEST_CASE(
    "clients are one row with sums, those without room in the status included, or a row each") {
  const auto answer = [](double up, std::uint64_t n) {
    auto x = node("a", up);
    x.all_links = counters({{"sent", 1000 * n}, {"queued", 60}});
    x.peers = {peer("b", {{"sent", 400 * n}, {"queued", 10}}),
               client("k1", {{"sent", 100 * n}, {"queued", 5}, {"dropped_newest", 2}}),
               client("k2", {{"sent", 100 * n}, {"queued", 45}, {"dropped_newest", 1}})};
    x.peers[1].name = "host";
    x.peers_left_out = 7;
    return x;
  };
  auto model = with_entry(answer(1, 1));
  model.take_status(answer(2, 2), at(1s));
  const auto folded = model.links("a", clients_shown::folded);
  REQUIRE(folded.size() == 2);
  const auto& all = find(folded, "clients");
  CHECK(all.name == "8 clients");
  CHECK(all.out == 600);
  CHECK(all.queued == 50);
  CHECK(all.full == doctest::Approx(0.45));
  CHECK(all.dropped() == 3);
  const auto unfolded = model.links("a", clients_shown::unfolded);
  REQUIRE(unfolded.size() == 3);
  CHECK(find(unfolded, "k1").out == 100);
  CHECK(find(unfolded, "k1").name == "host:1");
  CHECK(model.nodes(at(1s))[0].clients == 8);
}

TEST_CASE(
    "what the links of relays that are gone or came again had counted is no client's traffic") {
  const auto answer = [](double up, std::uint64_t all, numbers relay, bool there) {
    auto x = node("a", up);
    x.all_links = counters({{"sent", all}});
    x.peers = {client("k", {})};
    if (there)
      x.peers.push_back(peer("b", relay));
    return x;
  };
  const auto clients_out = [&](const node_report& second) {
    auto model = with_entry(answer(1, 1000, {{"sent", 900}, {"offered", 900}}, true));
    model.take_status(second, at(1s));
    return find(model.links("a", clients_shown::folded), "clients").out;
  };
  CHECK(clients_out(answer(2, 1030, {{"sent", 910}, {"offered", 910}}, true)) == 20);
  CHECK(clients_out(answer(2, 1030, {{"sent", 10}, {"offered", 10}}, true)) == 20); // made again
  CHECK(clients_out(answer(2, 1030, {}, false)) == 30); // with its last messages
}

TEST_CASE("the program that asks is no client, even where the node has no room to tell it") {
  auto x = node("a", 1);
  x.peers_left_out = 5;
  auto model = with_entry(x);
  CHECK(model.nodes(at(0s))[0].clients == 4);
  auto other = node("b", 1);
  other.peers_left_out = 5;
  model.take_status(other, at(0s));
  CHECK(find(model.nodes(at(0s)), "b").clients == 5);
}

TEST_CASE("a link is lost, full, or dropping; one that is new has no rates yet") {
  auto first = node("a", 1);
  first.peers = {peer("full", {}), peer("drops", {})};
  auto model = with_entry(first);
  auto second = node("a", 2);
  second.peers = {peer("full", {{"queued", 90}}), peer("drops", {{"dropped_gone", 1}}),
                  peer("new", {{"sent", 7}})};
  second.peers.push_back(peer("", {}));
  second.peers.back().state = "connecting";
  second.peers.push_back(peer("away", {}));
  second.peers.back().state = "lost";
  model.take_status(second, at(1s));
  const auto links = model.links("a", clients_shown::folded);
  CHECK(find(links, "full").state == "full");
  CHECK(find(links, "drops").how == health::dropping);
  CHECK(find(links, "away").how == health::lost);
  CHECK(find(links, "192.0.2.1:1").state == "connecting");
  CHECK(find(links, "full").rates_known);
  CHECK_FALSE(find(links, "new").rates_known);
}

TEST_CASE("subscribers have rates as long as there are as many") {
  const auto answer = [](double up, std::uint64_t n, std::size_t subscribers) {
    auto x = node("a", up);
    for (std::size_t i = 0; i < subscribers; ++i)
      x.subscribers.push_back(
          {.topics = {.first = {"zeek/"}, .total = 1},
           .policy = "drop_oldest",
           .capacity_messages = 10,
           .capacity_bytes = 1000,
           .counters = counters({{"offered", 10 * n}, {"delivered", 9 * n}, {"queued", 5}})});
    return x;
  };
  auto model = with_entry(answer(1, 1, 1));
  model.take_status(answer(2, 2, 1), at(1s));
  const auto before = model.subscribers("a");
  REQUIRE(before.size() == 1);
  CHECK(before[0].name == "zeek/");
  CHECK(before[0].in == 10);
  CHECK(before[0].out == 9);
  CHECK(before[0].full == 0.5);
  model.take_status(answer(3, 3, 2), at(2s));
  CHECK_FALSE(model.subscribers("a")[0].rates_known);
}

TEST_CASE("nodes are found by name or by the beginning of an id, and equal names are told apart") {
  auto model = with_entry(node("a", 1));
  auto x = known("b1234567");
  auto y = known("c1234567");
  x.name = y.name = "host";
  model.take_network({.nodes = {x, y}});
  CHECK(model.name_of("a") == "name-of-a");
  CHECK(model.name_of("b1234567") == "host#b123");
  CHECK(model.find("host#c123") == "c1234567");
  CHECK(model.find("name-of-a") == "a");
  CHECK(model.find("c1") == "c1234567");
  CHECK_FALSE(model.find("nobody"));
}

TEST_CASE("names and topics of others cannot steer the terminal") {
  auto model = with_entry(node("a", 1));
  auto x = known("b");
  x.name = "\x1b[2J";
  model.take_network({.nodes = {x}});
  CHECK(model.name_of("b") == "\\x1b[2J");
  CHECK(topics_text({.first = {"a\nb", ""}, .total = 3}) == "a\\x0ab, everything and 1 more");
}
