// What access rules allow and refuse, for every kind of peer and in both versions.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/certificates.hpp"
#include "support/nodes.hpp"
#include "support/published.hpp"
#include "support/raw_peer.hpp"

#include <thread>

#include <unistd.h>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

/// How a peer shows who it is.
struct identity {
  std::string kind;
  std::string scheme;
  tls_options of_node, of_peer;
  access_rule rule; // for it
};

/// Certificates for a node, and for peers with a common and with alternative names.
const std::vector<identity>& identities() {
  static authority ca{"authority"};
  static const std::vector<identity> all = [] {
    const auto node = ca.issue("node");
    const auto named = ca.issue("sensor-7");
    const auto host = ca.issue("host", {}, authority::day, "DNS:s7.example.org,IP:192.0.2.7");
    return std::vector<identity>{
        {"anonymous", "tcp", {}, {}, {.name = "guests", .anonymous = true}},
        {"user", "unix", {}, {}, {.name = "users", .users = {std::to_string(getuid())}}},
        {"common name", "tls", node, named, {.name = "sensors", .certificates = {"sensor-7"}}},
        {"alternative name",
         "tls",
         node,
         host,
         {.name = "hosts", .certificates = {"*.example.org"}}},
        {"address", "tls", node, host, {.name = "addresses", .certificates = {"192.0.2.7"}}},
    };
  }();
  return all;
}

/// A node with rules, and a peer of it.
struct node_and_peer {
  node_and_peer(const identity& who, access_rules rules, std::uint8_t version,
                const queue_options& link_queue = {})
      : node(options_of_node(who, std::move(rules), link_queue)),
        peer(options_of_peer(who, version)) {
    const auto where =
        who.scheme == "unix" ? "unix://" + (folder / "node.sock") : who.scheme + "://127.0.0.1:0";
    const auto port = node.listen(where);
    REQUIRE(port.has_value());
    uri = who.scheme == "unix" ? where : who.scheme + "://127.0.0.1:" + std::to_string(*port);
  }
  static endpoint_options options_of_node(const identity& who, access_rules rules,
                                          const queue_options& link_queue) {
    endpoint_options result;
    result.tls = who.of_node;
    result.access = std::move(rules);
    result.link_queue = link_queue;
    return result;
  }
  static endpoint_options options_of_peer(const identity& who, std::uint8_t version) {
    auto result = speaking(version);
    result.tls = who.of_peer;
    return result;
  }
  void join() {
    const auto joined = peer.peer(uri, once);
    REQUIRE_MESSAGE(joined.has_value(), joined.error().message());
    REQUIRE(node.wait_for_peer(peer.id(), patience));
  }

  temporary_folder folder;
  endpoint node;
  endpoint peer;
  std::string uri;
};

template <class Test>
void for_every_peer(Test test) {
  for (const auto& who : identities())
    for (const std::uint8_t version : {1, 2}) {
      CAPTURE(who.kind);
      CAPTURE(version);
      test(who, version);
    }
}

const identity& anonymous() {
  return identities().front();
}

/// Until the peer is told that something of this kind is refused.
bool is_told(status_subscriber& events, std::string_view what) {
  return eventually([&] {
    while (const auto event = events.try_get())
      if (event->is_error() && event->failure() == errc::denied &&
          event->message().find(what) != std::string::npos)
        return true;
    return false;
  });
}

bool is_cut_off(status_subscriber& events, errc why) {
  return eventually([&] {
    while (const auto event = events.try_get())
      if (event->is_error() && event->failure() == why)
        return true;
    return false;
  });
}

} // namespace

TEST_CASE(
    "whoever a rule is for may do what it says, and what it does not say is refused and counted") {
  for_every_peer([](const identity& who, std::uint8_t version) {
    auto rule = who.rule;
    rule.publish = filter{"/in/"};
    rule.subscribe = filter{"/out/"};
    node_and_peer net{who, {rule}, version};
    auto all = net.node.make_subscriber({"/"});
    auto told = net.peer.make_status_subscriber(status_events::errors);
    net.join();
    auto wanted = net.peer.make_subscriber({"/out/", "/secret/"});
    REQUIRE(net.node.wait_for_subscribers("/out/x", 1, patience));
    REQUIRE(net.node.wait_for_subscribers("/secret/x", 2, patience));
    REQUIRE(net.peer.wait_for_subscribers("/in/x", 1, patience));

    sent(net.peer.publish("/other/x", count{1}));
    sent(net.peer.publish("/in/x", count{2}));
    const auto arrived = all.get_for(patience);
    REQUIRE(arrived.has_value());
    CHECK(get_topic(*arrived) == "/in/x");
    CHECK(net.node.counters().denied >= 1);
    if (version == 2)
      CHECK(is_told(told, "no publishing on '/other/x'"));

    const auto before = net.node.counters().denied;
    sent(net.node.publish("/secret/x", count{3}));
    sent(net.node.publish("/out/x", count{4}));
    const auto received = wanted.get_for(patience);
    REQUIRE(received.has_value());
    CHECK(get_topic(*received) == "/out/x");
    CHECK(net.node.counters().denied == before + 1);
    CHECK(net.node.peers().at(0).access == rule.name);
    CHECK(net.node.status_text().find("\"access\":\"" + rule.name + '"') != std::string::npos);
  });
}

TEST_CASE("whoever no rule is for is not admitted, and told so") {
  for_every_peer([](const identity& who, std::uint8_t version) {
    access_rules others;
    for (const auto& each : identities())
      if (each.scheme != who.scheme)
        others.push_back(each.rule);
    others.push_back({.name = "strangers", .certificates = {"nobody", "*.example.net"}});
    others.push_back({.name = "others", .users = {"no-such-user", "4294967294"}});
    node_and_peer net{who, others, version};
    const auto refused = net.peer.peer(net.uri, once);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().context().ends_with("no access rule is for this peer"));
    CHECK(eventually([&] { return net.node.counters().denied == 1; }));
    CHECK(net.node.peers().empty());
  });
}

TEST_CASE("the first rule that is for a peer holds") {
  for_every_peer([](const identity& who, std::uint8_t version) {
    auto first = who.rule;
    first.publish = filter{"/first/"};
    auto second = first;
    second.name = "second";
    second.publish = filter{"/second/"};
    node_and_peer net{who, {first, second}, version};
    auto all = net.node.make_subscriber({"/"});
    net.join();
    REQUIRE(net.peer.wait_for_subscribers("/second/x", 1, patience));
    sent(net.peer.publish("/second/x", count{1}));
    sent(net.peer.publish("/first/x", count{2}));
    CHECK(next_number(all) == 2);
  });
}

TEST_CASE("a client passes nothing on and reports nobody; a relay does") {
  for (const bool relays : {false, true}) {
    CAPTURE(relays);
    auto rule = anonymous().rule;
    rule.relay = relays;
    node_and_peer net{anonymous(), {rule}, 2};
    auto told = net.peer.make_status_subscriber(status_events::errors);
    endpoint far{forwarding_on()};
    join(far, net.peer);
    auto here = net.node.make_subscriber({"/up"});
    auto there = far.make_subscriber({"/down"});
    net.join();
    auto beside = net.peer.make_subscriber({"/down"});
    REQUIRE(net.node.wait_for_subscribers("/down", relays ? 2 : 1, patience));
    sent(net.node.publish("/down", count{1}));
    CHECK(next_number(beside) == 1);
    if (relays) {
      CHECK(next_number(there) == 1);
      REQUIRE(far.wait_for_subscribers("/up", 1, patience));
      sent(far.publish("/up", count{2}));
      CHECK(next_number(here) == 2);
      continue;
    }
    CHECK(is_told(told, "reports no other nodes"));
    CHECK(net.node.subscribers("/down") == 1);
    REQUIRE(far.wait_for_subscribers("/up", 1, patience));
    const auto before = net.node.counters().denied;
    sent(far.publish("/up", count{2}));
    CHECK(eventually([&] { return net.node.counters().denied > before; }));
    sent(net.peer.publish("/up", count{3}));
    CHECK(next_number(here) == 3);
    CHECK_FALSE(there.try_get());
  }
}

TEST_CASE("who sends faster than its rule allows is held back, and loses nothing") {
  struct load {
    std::uint8_t version;
    std::uint64_t messages;
    std::uint64_t messages_per_second, bytes_per_second;
  };
  // Far less than any build sends; in version 2 credit lets many messages come at once.
  for (const load& x : {load{1, 20'000, 10'000, 0}, load{1, 20'000, 0, 700'000},
                        load{2, 80'000, 20'000, 0}, load{2, 80'000, 0, 500'000}}) {
    CAPTURE(x.version);
    CAPTURE(x.bytes_per_second);
    auto rule = anonymous().rule;
    rule.limits.messages_per_second = x.messages_per_second;
    rule.limits.bytes_per_second = x.bytes_per_second;
    node_and_peer net{anonymous(), {rule}, x.version};
    auto all = net.node.make_subscriber({"/t"});
    net.join();
    REQUIRE(net.peer.wait_for_subscribers("/t", 1, patience));
    const auto begin = std::chrono::steady_clock::now();
    std::jthread sending{[&] {
      for (std::uint64_t i = 0; i < x.messages; ++i)
        sent(net.peer.publish("/t", count{i}));
    }};
    CHECK(receives_in_order(all, x.messages));
    CHECK(std::chrono::steady_clock::now() - begin >= 300ms);
    CHECK(net.node.counters().limited >= 1);
  }
}

TEST_CASE("beyond a number of subscriptions or topics a peer loses its link") {
  for (const std::uint8_t version : {1, 2}) {
    CAPTURE(version);
    auto rule = anonymous().rule;
    rule.limits.subscriptions = 2;
    node_and_peer net{anonymous(), {rule}, version};
    auto events = net.node.make_status_subscriber(status_events::errors);
    net.join();
    auto few = net.peer.make_subscriber({"/a", "/b"});
    REQUIRE(net.node.wait_for_subscribers("/b", 1, patience));
    CHECK(net.node.counters().limited == 0);
    auto more = net.peer.make_subscriber({"/c"});
    CHECK(is_cut_off(events, errc::limit_exceeded));
    CHECK(net.node.counters().limited >= 1);
  }
  auto rule = anonymous().rule;
  rule.limits.topics = 3;
  node_and_peer net{anonymous(), {rule}, 2};
  auto events = net.node.make_status_subscriber(status_events::errors);
  auto all = net.node.make_subscriber({"/"});
  net.join();
  REQUIRE(net.peer.wait_for_subscribers("/1", 1, patience));
  for (const auto* topic : {"/1", "/2", "/3"}) {
    sent(net.peer.publish(topic, count{1}));
    CHECK(next_number(all) == 1);
  }
  sent(net.peer.publish("/4", count{1}));
  CHECK(is_cut_off(events, errc::limit_exceeded));
}

TEST_CASE("so many peers may have the same rule, and no more") {
  for_every_peer([](const identity& who, std::uint8_t version) {
    auto rule = who.rule;
    rule.limits.connections = 1;
    node_and_peer net{who, {rule}, version};
    net.join();
    endpoint other{node_and_peer::options_of_peer(who, version)};
    const auto refused = other.peer(net.uri, once);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().context().ends_with("peers as there may be have the same access rule"));
    CHECK(net.node.counters().limited == 1);
    net.peer.close();
    CHECK(eventually([&] { return net.node.peers().empty(); }));
    CHECK(other.peer(net.uri, once));
  });
}

TEST_CASE("no more waits for a peer than its rule allows") {
  for (const std::uint64_t most : {std::uint64_t{10'000}, std::uint64_t{0}}) {
    CAPTURE(most);
    auto rule = anonymous().rule;
    rule.limits.queued_bytes = most;
    endpoint node{node_and_peer::options_of_node(anonymous(), {rule},
                                                 {.policy = overflow_policy::drop_newest})};
    const raw_peer deaf{node, *node.listen("tcp://127.0.0.1:0"), 2}; // wants all and reads nothing
    for (int i = 0; i < 20'000; ++i)
      sent(node.publish("/t", std::string(1'000, 'x')));
    const auto all = node.counters().links;
    CHECK(all.offered == 20'000);
    if (most > 0)
      CHECK(all.dropped_newest > 10'000);
    else
      CHECK(all.dropped_newest == 0);
  }
}

TEST_CASE("rules change under load, and nothing is lost") {
  for (const std::uint8_t version : {1, 2}) {
    CAPTURE(version);
    auto rule = anonymous().rule;
    rule.publish = filter{"/t"};
    node_and_peer net{anonymous(), {rule}, version};
    auto all = net.node.make_subscriber({"/"});
    net.join();
    auto back = net.peer.make_subscriber({"/back"});
    REQUIRE(net.peer.wait_for_subscribers("/t", 1, patience));
    REQUIRE(net.node.wait_for_subscribers("/back", 2, patience));
    std::jthread there{[&] {
      for (std::uint64_t i = 0; i < 30'000; ++i)
        sent(net.peer.publish("/t", count{i}));
    }};
    std::jthread here{[&] {
      for (std::uint64_t i = 0; i < 30'000; ++i)
        sent(net.node.publish("/back", count{i}));
    }};
    std::jthread changes{[&](const std::stop_token& enough) {
      for (int i = 0; !enough.stop_requested(); ++i) {
        auto other = rule;
        other.name = "rule " + std::to_string(i);
        other.publish = i % 2 == 0 ? filter{"/t", "/u"} : filter{"/t"};
        other.subscribe = i % 3 == 0 ? std::optional{filter{"/back"}} : std::nullopt;
        CHECK(net.node.set_access(access_rules{other}));
      }
    }};
    auto own = std::jthread{[&] { CHECK(receives_in_order(back, 30'000)); }};
    std::uint64_t next = 0;
    while (next < 30'000) {
      const auto msg = all.get_for(patience);
      REQUIRE(msg.has_value());
      if (get_topic(*msg) != "/t")
        continue; // our own
      CHECK(get_data(*msg) == data{count{next}});
      ++next;
    }
    CHECK(net.node.counters().denied == 0);
  }
}

TEST_CASE("rules that make no sense change nothing, and others hold for those that are connected") {
  for_every_peer([](const identity& who, std::uint8_t version) {
    auto rule = who.rule;
    rule.publish = filter{"/t"};
    rule.relay = true; // as without rules
    node_and_peer net{who, {rule}, version};
    auto all = net.node.make_subscriber({"/"});
    auto events = net.node.make_status_subscriber(status_events::errors);
    net.join();
    REQUIRE(net.peer.wait_for_subscribers("/t", 1, patience));
    CHECK(net.node.set_access(access_rules{rule, rule}).error() == errc::invalid_argument);
    CHECK(net.node.set_access(access_rules{{.name = "nobody"}}).error() == errc::invalid_argument);
    sent(net.peer.publish("/t", count{1}));
    CHECK(next_number(all) == 1);
    rule.publish = filter{"/u"};
    CHECK(net.node.set_access(access_rules{rule}));
    sent(net.peer.publish("/t", count{2}));
    sent(net.peer.publish("/u", count{3}));
    CHECK(next_number(all) == 3);
    CHECK(net.node.set_access(std::nullopt));
    sent(net.peer.publish("/t", count{4}));
    CHECK(next_number(all) == 4);
    CHECK(net.node.set_access(access_rules{{.name = "others", .users = {"no-such-user"}}}));
    CHECK(is_cut_off(events, errc::denied));
  });
}

TEST_CASE("a peering that this endpoint makes has the rule of its request") {
  endpoint node;
  endpoint peer;
  const auto port = peer.listen("tcp://127.0.0.1:0");
  REQUIRE(port);
  auto with_rule = once;
  with_rule.access =
      access_rule{.name = "guest", .publish = filter{"/in/"}, .subscribe = filter{"/out/"}};
  REQUIRE(node.peer("tcp://127.0.0.1:" + std::to_string(*port), with_rule));
  REQUIRE(node.peers().size() == 1);
  CHECK(node.peers()[0].access == "guest");
  auto here = node.make_subscriber({"/"});
  auto there = peer.make_subscriber({"/o"});
  REQUIRE(here.wait_ready(patience));
  REQUIRE(there.wait_ready(patience));
  CHECK(peer.publish("/other/x", data{1}) == publish_result::taken);
  CHECK(peer.publish("/in/x", data{2}) == publish_result::taken);
  const auto came = here.get_for(patience);
  REQUIRE(came);
  CHECK(get_topic(*came) == "/in/x");
  (void)node.publish("/other/x", data{3});
  CHECK(node.publish("/out/x", data{4}) == publish_result::taken);
  CHECK(get_topic(*there.get_for(patience)) == "/other/x"); // its own
  CHECK(get_topic(*there.get_for(patience)) == "/out/x");
  // Rules for those that connect to this endpoint do not change it.
  CHECK(node.set_access(access_rules{{.name = "others", .anonymous = true}}));
  CHECK(node.peers()[0].access == "guest");
  with_rule.access->name.clear();
  CHECK_FALSE(check(with_rule));
}
