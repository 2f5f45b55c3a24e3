// Programs for Broker's API, over this library: among themselves, and with its own endpoints.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/eventually.hpp"

#include <pubsub/compat/broker.hpp>
#include <pubsub/pubsub.hpp>
#include <pubsub/zeek/event.hpp>

#include <algorithm>
#include <atomic>
#include <deque>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <poll.h>

#include <doctest/doctest.h>

using namespace std::chrono_literals;
using pubsub::test::eventually;
using pubsub::test::patience;

namespace {

broker::configuration plain(bool forward = true) {
  broker::broker_options options;
  options.disable_ssl = true;
  options.disable_forwarding = !forward;
  return broker::configuration{options};
}

/// Peers `from` with `to`, both sides seeing it.
void join(broker::endpoint& from, broker::endpoint& to) {
  const auto port = to.listen("127.0.0.1");
  REQUIRE(port != 0);
  REQUIRE(from.peer("127.0.0.1", port, broker::timeout::seconds{1}));
  REQUIRE(to.await_peer(from.node_id(), patience));
}

} // namespace

TEST_CASE("endpoints that stand in for Broker's peer and encrypt unless they are told not to") {
  broker::endpoint listening;
  broker::endpoint connecting;
  auto inbox = listening.make_subscriber({"/test"});
  join(connecting, listening);
  connecting.publish("/test", "secret");
  CHECK(get_data(inbox.get()) == broker::data{"secret"});

  broker::endpoint unencrypted{plain()};
  const auto port = listening.listen("127.0.0.1");
  CHECK_FALSE(unencrypted.peer("127.0.0.1", port, broker::timeout::seconds{0}));
}

TEST_CASE("a program for Broker's API and one for the library's own read each other's messages") {
  broker::endpoint old_program{plain()};
  pubsub::endpoint new_program;
  auto at_old = old_program.make_subscriber({"/to/old"});
  auto at_new = new_program.make_subscriber({"/to/new"});
  const auto port = old_program.listen("127.0.0.1");
  REQUIRE(new_program.peer("127.0.0.1:" + std::to_string(port)));
  REQUIRE(old_program.await_peer(broker::endpoint_id{new_program.id()}));
  old_program.publish("/to/new", broker::zeek::Event{"ping", {1u}});
  const auto event = at_new.get_for(patience);
  REQUIRE(event);
  CHECK(pubsub::zeek::parse_event(get_data(*event))->name == "ping");
  CHECK(new_program.publish("/to/old", pubsub::zeek::make_event("pong", {pubsub::count{2}})) ==
        pubsub::publish_result::taken);
  const auto answer = broker::zeek::Event{at_old.get()};
  CHECK(answer.valid());
  CHECK(answer.name() == "pong");
  CHECK(answer.args() == broker::vector{2u});
}

TEST_CASE("an endpoint that stands in for Broker's does not hear itself") {
  broker::endpoint talker{plain()};
  broker::endpoint listener{plain()};
  auto own = talker.make_subscriber({"/test"});
  auto others = listener.make_subscriber({"/test"});
  join(talker, listener);
  talker.publish("/test", 1);
  listener.publish("/test", 2);
  CHECK(get_data(own.get()) == broker::data{2});
  CHECK(get_data(others.get()) == broker::data{1});
  CHECK(own.available() == 0);
}

TEST_CASE("a message for one endpoint by Broker's API comes to no other") {
  broker::endpoint sender{plain()};
  broker::endpoint meant{plain()};
  broker::endpoint other{plain()};
  auto at_meant = meant.make_subscriber({"/test"});
  auto at_other = other.make_subscriber({"/test"});
  join(sender, meant);
  join(sender, other);
  sender.publish(broker::endpoint_info{meant.node_id()}, "/test", broker::data{"for one"});
  sender.publish("/test", "for all");
  CHECK(get_data(at_meant.get()) == broker::data{"for one"});
  CHECK(get_data(at_meant.get()) == broker::data{"for all"});
  CHECK(get_data(at_other.get()) == broker::data{"for all"});
}

TEST_CASE("messages pass an endpoint between two programs for Broker's API, unless it is not to "
          "forward") {
  for (const auto forward : {true, false}) {
    broker::endpoint first{plain()};
    broker::endpoint middle{plain(forward)};
    broker::endpoint last{plain()};
    auto inbox = last.make_subscriber({"/test"});
    join(first, middle);
    join(last, middle);
    CHECK(first.await_peer(last.node_id(), forward ? patience : 50ms) == forward);
    if (forward) {
      first.publish("/test", "over the middle");
      CHECK(get_data(inbox.get()) == broker::data{"over the middle"});
    }
  }
}

TEST_CASE(
    "await_peer of Broker's API tells a callback, too, and false once the endpoint is shut down") {
  broker::endpoint a{plain()};
  broker::endpoint b{plain()};
  std::promise<bool> found;
  std::promise<bool> given_up;
  a.await_peer(
      b.node_id(), [&](bool result) { found.set_value(result); }, patience);
  a.await_peer(
      broker::endpoint_id::random(), [&](bool result) { given_up.set_value(result); },
      broker::infinite);
  join(a, b);
  CHECK(found.get_future().get());
  a.shutdown();
  CHECK_FALSE(given_up.get_future().get());
  CHECK(b.await_filter_entry("/nobody", 1ms) == false);
  auto inbox = b.make_subscriber({"/nobody"});
  CHECK(b.await_filter_entry("/nobody/at/all"));
}

TEST_CASE("work in the background by Broker's API publishes, receives, and ends when it is told") {
  broker::endpoint source{plain()};
  broker::endpoint sink{plain()};
  std::promise<broker::integer> sum;
  std::atomic<bool> cleaned = false;
  const auto adds = sink.subscribe(
      {"/numbers"}, [](broker::integer& total) { total = 0; },
      [&](broker::integer& total, const broker::data_message& msg) {
        total += get_data(msg).to_integer();
        if (get_data(msg) == broker::data{99})
          sum.set_value(total);
      },
      [&](broker::integer&, const broker::error& reason) { cleaned = !reason; });
  join(source, sink);
  const auto counts = source.publish_all(
      [](broker::integer& next) { next = 0; },
      [](broker::integer& next, std::deque<broker::data_message>& out, std::size_t) {
        out.push_back(broker::make_data_message("/numbers", next++));
      },
      [](const broker::integer& next) { return next == 100; });
  source.wait_for(counts);
  CHECK(sum.get_future().get() == 99 * 50);
  sink.stop(adds);
  CHECK(cleaned);
}

TEST_CASE("a callback of Broker's subscribe that throws ends it, and cleanup is told why") {
  broker::endpoint source{plain()};
  broker::endpoint sink{plain()};
  std::promise<std::string> why;
  const auto fails = sink.subscribe(
      {"/test"}, [] {}, [](const broker::data_message&) { throw std::runtime_error{"no more"}; },
      [&](const broker::error& reason) { why.set_value(*reason.message()); });
  join(source, sink);
  source.publish("/test", 1);
  CHECK(why.get_future().get() == "no more");
  sink.wait_for(fails);
}

TEST_CASE("Broker's subscribe tells of peers on its own topics, and never two things at a time") {
  broker::endpoint node{plain()};
  broker::endpoint other{plain()};
  std::mutex mutex;
  std::vector<std::string> told;
  std::atomic<int> at_a_time = 0;
  std::atomic<bool> overlapped = false;
  const auto listens = node.subscribe(
      {broker::topic::errors(), broker::topic::statuses(), "/test"}, [] {},
      [&](const broker::data_message& msg) {
        if (++at_a_time > 1)
          overlapped = true;
        const std::lock_guard lock{mutex};
        if (get_topic(msg) == broker::topic::statuses_str)
          told.emplace_back(to_string(broker::to<broker::status>(get_data(msg))->code()));
        else if (get_topic(msg) == broker::topic::errors_str)
          told.emplace_back(
              to_string(static_cast<broker::ec>(broker::to<broker::error>(get_data(msg))->code())));
        else
          told.push_back(to_string(get_data(msg)));
        --at_a_time;
      },
      [](const broker::error&) {});
  const auto has_told = [&](const std::string& what) {
    return eventually([&] {
      const std::lock_guard lock{mutex};
      return std::find(told.begin(), told.end(), what) != told.end();
    });
  };
  join(other, node);
  CHECK(has_told("endpoint_discovered"));
  CHECK(has_told("peer_added"));
  other.publish("/test", "a message");
  CHECK(has_told("a message"));
  node.unpeer("127.0.0.1", 1);
  CHECK(has_told("peer_invalid"));
  other.shutdown();
  CHECK(has_told("peer_lost"));
  node.stop(listens);
  CHECK_FALSE(overlapped);
}

TEST_CASE("shutdown by Broker's API ends every wait, and no call after it does harm") {
  broker::endpoint node{plain()};
  auto inbox = node.make_subscriber({"/test"});
  auto events = node.make_status_subscriber(true);
  auto publisher = node.make_publisher("/test");
  auto reader = std::async(std::launch::async, [&] { return inbox.get(); });
  auto watcher = std::async(std::launch::async, [&] { return events.get(); });
  auto several = std::async(std::launch::async, [&] { return node.peer("127.0.0.1", 1); });
  node.shutdown();
  CHECK(reader.get() == nullptr);
  CHECK(broker::is<broker::none>(watcher.get()));
  CHECK_FALSE(several.get());
  node.publish("/test", 1);
  publisher.publish(broker::data{1});
  CHECK(node.listen("127.0.0.1") == 0);
  CHECK_FALSE(node.peer("127.0.0.1", 1));
  CHECK_FALSE(node.unpeer("127.0.0.1", 1));
  CHECK(node.peers().empty());
  CHECK(inbox.get(5).empty());
  CHECK(inbox.poll().empty());
  CHECK(node.is_shutdown());
  node.shutdown();
}

TEST_CASE("handles of Broker's API that are reset, or moved from, do no harm") {
  broker::endpoint node{plain()};
  auto inbox = node.make_subscriber({"/test"});
  auto events = node.make_status_subscriber();
  auto publisher = node.make_publisher("/test");
  inbox.reset();
  events.reset();
  publisher.reset();
  CHECK(inbox.get() == nullptr);
  CHECK(inbox.fd() == -1);
  CHECK(inbox.available() == 0);
  inbox.add_topic("/more");
  inbox.remove_topic("/test");
  CHECK(broker::is<broker::none>(events.get(1ms)));
  CHECK(events.fd() == -1);
  publisher.publish(broker::data{1});
  CHECK(publisher.buffered() == 0);
}

TEST_CASE("the descriptor of Broker's publisher is readable, since it takes messages at any time") {
  broker::endpoint node{plain()};
  const auto publisher = node.make_publisher("/test");
  pollfd wait{publisher.fd(), POLLIN, 0};
  CHECK(::poll(&wait, 1, 0) == 1);
  CHECK(publisher.free_capacity() == publisher.capacity());
}

TEST_CASE("forward of Broker's API makes peers send what nobody here wants") {
  broker::endpoint relay{plain()};
  broker::endpoint source{plain()};
  relay.forward({"/wanted/elsewhere"});
  join(source, relay);
  const auto wanted = source.peer_subscriptions();
  CHECK(wanted == std::vector<broker::topic>{"/wanted/elsewhere"});
  CHECK(relay.filter() == broker::filter_type{"/wanted/elsewhere"});
}

TEST_CASE("what Broker's API says of a peer names it, and unpeer_nosync parts from it in the "
          "background") {
  broker::endpoint a{plain()};
  broker::endpoint b{plain()};
  auto events = a.make_status_subscriber(true);
  const auto port = b.listen("127.0.0.1");
  auto peered = a.peer_async("127.0.0.1", port);
  REQUIRE(peered.get());
  auto event = events.get(patience);
  CHECK(broker::get<broker::status>(event) == broker::sc::endpoint_discovered);
  event = events.get(patience);
  const auto& added = broker::get<broker::status>(event);
  CHECK(added == broker::sc::peer_added);
  REQUIRE(added.context() != nullptr);
  CHECK(added.context()->node == b.node_id());
  CHECK(added.context()->network->port == port);
  CHECK(to_string(added).starts_with("peer_added(" + to_string(b.node_id())));
  REQUIRE(a.peers().size() == 1);
  CHECK(is_outbound(a.peers()[0].flags));
  a.unpeer_nosync("127.0.0.1", port);
  CHECK(eventually([&] { return a.peers().empty(); }));
  event = events.get(patience);
  CHECK(broker::get<broker::status>(event) == broker::sc::peer_removed);
  a.unpeer("127.0.0.1", port);
  while (!broker::is<broker::error>(event))
    event = events.get(patience);
  CHECK(broker::get<broker::error>(event) == broker::ec::peer_invalid);
}
