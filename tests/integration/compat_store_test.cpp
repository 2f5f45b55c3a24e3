// Broker's data stores between programs for Broker's API, over this library.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/eventually.hpp"

#include <pubsub/compat/broker.hpp>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

using namespace std::chrono_literals;
using broker::data;
using broker::ec;
using pubsub::test::eventually;
using pubsub::test::patience;
using pubsub::test::readable;

namespace {

broker::configuration plain() {
  broker::broker_options options;
  options.disable_ssl = true;
  return broker::configuration{options};
}

/// An endpoint that is in the middle of all others.
struct star {
  broker::endpoint relay{plain()};
  std::uint16_t port = relay.listen("127.0.0.1");

  std::unique_ptr<broker::endpoint> leaf() {
    auto result = std::make_unique<broker::endpoint>(plain());
    REQUIRE(result->peer("127.0.0.1", port, broker::timeout::seconds{1}));
    return result;
  }
};

broker::store master_of(broker::endpoint& node, const std::string& name) {
  auto result = node.attach_master(name, broker::backend::memory);
  REQUIRE(result);
  return *result;
}
broker::store clone_of(broker::endpoint& node, const std::string& name) {
  auto result = node.attach_clone(name);
  REQUIRE(result);
  return *result;
}

bool becomes(const broker::store& where, const data& key, const data& value) {
  return eventually([&] {
    const auto now = where.get(key);
    return now && *now == value;
  });
}

} // namespace

TEST_CASE("clones of Broker's stores follow their master over a relay, whoever changes it") {
  star net;
  const auto first = net.leaf();
  const auto second = net.leaf();
  const auto third = net.leaf();
  auto early = clone_of(*second, "shared"); // there is no master yet
  early.put("early", 1);
  auto master = master_of(*first, "shared");
  auto late = clone_of(*third, "shared");
  CHECK(becomes(late, "early", 1));
  CHECK(becomes(early, "early", 1));
  CHECK(*master.get("early") == data{1});
  master.put("from master", broker::vector{1, 2});
  CHECK(becomes(early, "from master", broker::vector{1, 2}));
  late.push("from master", 3);
  CHECK(becomes(early, "from master", broker::vector{1, 2, 3}));
  CHECK(late.await_idle(patience));
  CHECK(*late.get("from master") == data{broker::vector{1, 2, 3}});
  CHECK(master.await_idle(patience));
  early.clear();
  CHECK(early.await_idle(patience));
  CHECK(*early.keys() == data{broker::set{}});
  CHECK(*master.keys() == data{broker::set{}});
}

TEST_CASE("all that three writers add to one of Broker's stores is in it once, everywhere") {
  star net;
  const auto first = net.leaf();
  const auto second = net.leaf();
  const auto third = net.leaf();
  std::vector<broker::store> stores{master_of(*first, "sum"), clone_of(*second, "sum"),
                                    clone_of(*third, "sum")};
  constexpr auto each = 20'000;
  std::vector<std::thread> writers;
  for (auto& store : stores)
    writers.emplace_back([&store] {
      for (auto i = 0; i < each; ++i)
        store.increment("n", 1u);
    });
  for (auto& writer : writers)
    writer.join();
  for (const auto& store : stores)
    CHECK(becomes(store, "n", broker::count{3 * each}));
  for (const auto& store : stores)
    CHECK(store.await_idle(patience));
}

TEST_CASE("of many put_unique of one key in Broker's stores one succeeds, and sees it") {
  star net;
  const auto home = net.leaf();
  auto master = master_of(*home, "unique");
  std::vector<std::unique_ptr<broker::endpoint>> leaves;
  std::vector<std::future<bool>> results;
  for (auto i = 0; i < 5; ++i) {
    leaves.push_back(net.leaf());
    results.push_back(std::async(std::launch::async, [&node = *leaves.back(), i] {
      auto store = clone_of(node, "unique");
      const auto won = store.put_unique("key", i);
      return won && won->to_boolean() && *store.get("key") == data{i};
    }));
  }
  auto winners = 0;
  for (auto& each : results)
    winners += each.get() ? 1 : 0;
  CHECK(winners == 1);
  CHECK(*master.put_unique("key", 99) == data{false});
}

TEST_CASE("there is one master of a name of Broker's stores in reach, and no clone beside it") {
  star net;
  const auto first = net.leaf();
  const auto second = net.leaf();
  auto master = master_of(*first, "one");
  REQUIRE(second->native().wait_for_subscribers("libpubsub/store/one/<master>", 1, patience));
  CHECK(second->attach_master("one", broker::backend::memory).error() == ec::master_exists);
  CHECK(first->attach_clone("one").error() == ec::no_such_master);
  auto again = master_of(*first, "one");
  master.put("a", 1);
  CHECK(*again.get("a") == data{1});
  // One that listens to everything is no master, nor is that of a store with a longer name.
  auto everything = net.relay.make_subscriber({""});
  auto longer = master_of(*first, "another/one");
  auto other = master_of(*second, "another");
  clone_of(*second, "cloned");
  CHECK(second->attach_master("cloned", broker::backend::memory).error() == ec::master_exists);
}

TEST_CASE("what Broker's stores cannot be made of is refused") {
  broker::endpoint node{plain()};
  CHECK(node.attach_master("a", broker::backend::sqlite, {{"path", "a.db"}}).error() ==
        ec::backend_failure);
  for (const auto& name : {std::string{}, std::string{"a<$>b"}, std::string(70'000, 'x')}) {
    CHECK(node.attach_master(name, broker::backend::memory).error() == ec::invalid_topic_key);
    CHECK(node.attach_clone(name).error() == ec::invalid_topic_key);
  }
  CHECK(node.attach_clone("patient", 1e300, 1e300, 1e300));
  CHECK(node.attach_clone("hasty", -1e300, 0, -1)->put_unique("a", 1).error() ==
        ec::no_such_master);
  node.shutdown();
  CHECK(node.attach_master("a", broker::backend::memory).error() == ec::shutting_down);
}

TEST_CASE("when the master of a store is lost its clones go on, and take another one") {
  star net;
  auto first = net.leaf();
  const auto second = net.leaf();
  const auto third = net.leaf();
  auto master = master_of(*first, "moved");
  master.put("a", "old");
  auto clone = clone_of(*third, "moved");
  CHECK(becomes(clone, "a", "old"));
  first->shutdown();
  CHECK_FALSE(master.initialized());
  CHECK(master.get("a").error() == ec::bad_member_function_call);
  master.put("a", "unheard");
  CHECK(*clone.get("a") == data{"old"});
  clone.put("b", "for whoever comes");
  broker::expected<broker::store> next = ec::unspecified;
  REQUIRE(eventually([&] { // until the loss of the first is known there
    next = second->attach_master("moved", broker::backend::memory);
    return next.has_value();
  }));
  next->put("a", "new");
  CHECK(becomes(clone, "a", "new"));
  CHECK(becomes(*next, "b", "for whoever comes"));
}

TEST_CASE("a proxy of Broker's stores tells by a descriptor that there is an answer") {
  star net;
  const auto first = net.leaf();
  const auto second = net.leaf();
  auto master = master_of(*first, "asked");
  master.put("set", broker::set{1, 2});
  auto clone = clone_of(*second, "asked");
  for (auto* store : {&master, &clone}) {
    broker::store::proxy proxy{*store};
    REQUIRE(proxy.valid());
    auto mailbox = proxy.mailbox();
    CHECK(mailbox.empty());
    CHECK_FALSE(readable(mailbox.descriptor()));
    CHECK(proxy.get("set") == 1);
    CHECK(proxy.exists("none") == 2);
    CHECK(proxy.get_index_from_value("set", 2) == 3);
    CHECK(proxy.keys() == 4);
    CHECK(proxy.get("none") == 5);
    CHECK(proxy.put_unique("set", 1) == 6);
    REQUIRE(eventually([&] { return mailbox.size() == 6; }));
    CHECK(readable(mailbox.descriptor()));
    std::vector<std::string> answers(7);
    for (const auto& each : proxy.receive(6))
      answers.at(static_cast<std::size_t>(each.id)) = to_string(each.answer);
    CHECK(answers ==
          std::vector<std::string>{"", "{1, 2}", "F", "T", "{set}", "!no_such_key", "F"});
    CHECK_FALSE(readable(mailbox.descriptor()));
    CHECK(proxy.get("set") == 7);
    CHECK(eventually([&] { return readable(proxy.mailbox().descriptor()); }));
    CHECK(proxy.receive().id == 7);
  }
}

TEST_CASE("whoever waits for an answer of Broker's stores is told that the endpoint is shut down") {
  broker::endpoint node{plain()};
  auto clone = clone_of(node, "nowhere");
  broker::store::proxy proxy{clone};
  CHECK(proxy.get("a") == 1);
  auto waiting = std::async(std::launch::async, [&] { return proxy.receive(2); });
  auto asking = std::async(std::launch::async, [&] { return clone.put_unique("a", 1); });
  auto idle = std::async(std::launch::async, [&] { return clone.await_idle(patience); });
  node.shutdown();
  const auto answers = waiting.get();
  CHECK(answers[0].id == 1);
  CHECK(answers[0].answer.error() == ec::shutting_down);
  CHECK(answers[1].id == 0);
  CHECK_FALSE(asking.get());
  CHECK_FALSE(idle.get());
  CHECK_FALSE(broker::store::proxy{clone}.receive().answer);
}

TEST_CASE("whoever asks the master of a store does not wait for a peer that does not read") {
  broker::endpoint home{plain()};
  broker::endpoint follower{plain()};
  pubsub::endpoint idler;
  const auto port = home.listen("127.0.0.1");
  REQUIRE(follower.peer("127.0.0.1", port));
  REQUIRE(idler.peer("127.0.0.1:" + std::to_string(port)));
  auto master = master_of(home, "held");
  auto clone = clone_of(follower, "held");
  REQUIRE(clone.await_idle(patience));
  auto unread = idler.make_subscriber({"libpubsub/store/held/"}, {.capacity_messages = 1});
  REQUIRE(unread.wait_ready(patience));
  std::atomic<bool> enough = false;
  auto writing = std::async(std::launch::async, [&] {
    for (auto i = 0; !enough; ++i)
      master.put("key", std::string(1'000'000, 'x'));
  });
  REQUIRE(eventually([&] { // only then does the writer wait, too
    return home.native().try_publish("libpubsub/store/held/", pubsub::data{1}) ==
           pubsub::publish_result::would_block;
  }));
  auto reading = std::async(std::launch::async, [&] {
    broker::store::proxy proxy{master};
    proxy.get("none");
    return master.get("key").has_value() && proxy.receive().answer.error() == ec::no_such_key;
  });
  CHECK(reading.wait_for(patience) == std::future_status::ready);
  CHECK(writing.wait_for(0s) == std::future_status::timeout);
  enough = true;
  unread.close();
  CHECK(writing.wait_for(patience) == std::future_status::ready);
  CHECK(reading.get());
}

TEST_CASE("handles on no store of Broker's do no harm") {
  broker::store none;
  CHECK_FALSE(none);
  CHECK(none.name().empty());
  none.put("a", 1);
  CHECK(none.get("a").error() == ec::bad_member_function_call);
  CHECK_FALSE(none.await_idle(1ms));
  broker::store::proxy proxy{none};
  CHECK_FALSE(proxy.valid());
  CHECK(proxy.get("a") == 0);
  CHECK(proxy.mailbox().descriptor() == -1);
  CHECK(proxy.receive().answer.error() == ec::shutting_down);
  auto kept = [] {
    broker::endpoint gone{plain()};
    return master_of(gone, "kept");
  }();
  CHECK_FALSE(kept);
  CHECK(kept.name() == "kept");
  kept.increment("a", 1);
}

TEST_CASE("bytes on the topics of Broker's stores that nobody understands are ignored") {
  star net;
  const auto first = net.leaf();
  const auto second = net.leaf();
  auto master = master_of(*first, "kept");
  auto clone = clone_of(*second, "kept");
  master.put("a", 1);
  REQUIRE(becomes(clone, "a", 1));
  for (const auto* topic : {"libpubsub/store/kept/<master>", "libpubsub/store/kept/<clones>",
                            "libpubsub/store/kept/<master>/more"}) {
    net.relay.publish(topic, "no message");
    net.relay.publish(topic, broker::vector{"put", "nobody", 99u, "a", 2});
    net.relay.publish(topic, broker::vector{"alive", broker::nil, broker::nil});
    net.relay.publish(topic, broker::vector{"attach", "../elsewhere", 1u});
  }
  clone.put("b", 2);
  CHECK(becomes(clone, "b", 2));
  CHECK(*clone.get("a") == data{1});
}
