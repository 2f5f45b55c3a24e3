// What Broker's stores do to values, what masters and clones say, and what they make of lies: with
// a clock that is turned by hand, and messages that are carried by hand.
// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/compat/broker.hpp>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace std::chrono_literals;
using broker::data;
using broker::ec;
using broker::detail::store_action;
using broker::detail::store_clone;
using broker::detail::store_command;
using broker::detail::store_effects;
using broker::detail::store_master;
using broker::detail::store_query;

namespace {

data value_of(const broker::detail::store_message& x) {
  return broker::detail::decode(*pubsub::data_view::make(x.content.bytes()));
}

/// A master, a clone, and what is under way between them.
struct pair_of_stores {
  broker::detail::store_time now{1h};
  store_effects from_master;
  store_effects from_clone;
  store_master master{"s"};
  store_clone clone{"s", {10s, 300s, 120s}, now, from_clone};
  bool connected = true;

  /// Carries messages until there are none, and gives answers; returns the number of messages.
  std::size_t settle() {
    std::size_t carried = 0;
    while (!from_master.empty() || !from_clone.empty()) {
      carried += carry(from_clone, [this](const auto& x, const data& content) {
        if (x.topic == master.topics().master)
          master.receive(content, now, from_master);
      });
      master.tick(now, from_master);
      carried += carry(from_master, [this](const auto& x, const data& content) {
        if (x.topic == clone.topics().clones || x.topic == clone.own_topic())
          clone.receive(content, now, from_clone);
      });
    }
    return carried;
  }
  std::size_t pass(std::chrono::milliseconds time) {
    std::size_t carried = 0;
    for (const auto end = now + time; now < end;) {
      now += 100ms;
      master.tick(now, from_master);
      clone.tick(now, from_clone);
      carried += settle();
    }
    return carried;
  }
  void tell_master(store_command x) { master.submit(x, nullptr, now, from_master); }
  void put(data key, data value) {
    tell_master({store_action::put, std::move(key), std::move(value), {}, {}});
  }
  broker::expected<data> ask_master(const store_query& query) const {
    broker::expected<data> answer{ec::none};
    store_effects answers;
    master.ask(
        query, [&](auto x) { answer = x; }, now, answers);
    answers.calls.at(0)();
    return answer;
  }
  broker::expected<data> at_master(data key) const {
    return ask_master({store_query::kind::get, std::move(key), {}});
  }
  /// The answer; `ec::none` if there is none yet.
  broker::expected<data> at_clone(data key) {
    const auto answer = std::make_shared<broker::expected<data>>(ec::none);
    clone.ask(
        {store_query::kind::get, std::move(key), {}}, [answer](auto x) { *answer = x; }, now,
        from_clone);
    for (const auto& call : std::exchange(from_clone.calls, {}))
      call();
    return *answer;
  }
  void tell_clone(store_command x) {
    results_.push_back(std::make_shared<std::string>("none"));
    clone.submit(
        x, [to = results_.back()](auto y) { *to = to_string(y); }, now, from_clone);
  }
  std::string result(std::size_t index) const { return *results_.at(index); }

private:
  template <class Receive>
  std::size_t carry(store_effects& from, Receive receive) {
    const auto todo = std::exchange(from, {});
    if (connected)
      for (const auto& each : todo.messages)
        receive(each, value_of(each));
    for (const auto& call : todo.calls)
      call();
    return todo.messages.size();
  }
  std::vector<std::shared_ptr<std::string>> results_;
};

broker::vector values_of_all_kinds() {
  return {broker::nil,
          true,
          7u,
          -7,
          0.25,
          "text",
          broker::address{},
          broker::subnet{broker::address{}, 32},
          broker::port{80, broker::port::protocol::tcp},
          broker::timestamp{5ns},
          broker::timespan{-5},
          broker::enum_value{"E"},
          broker::set{1, "x"},
          broker::table{{1, broker::vector{}}},
          broker::vector{1, broker::vector{}}};
}

} // namespace

TEST_CASE("values of every kind are keys and values of Broker's stores, at master and clone") {
  pair_of_stores s;
  for (const auto& key : values_of_all_kinds())
    for (const auto& value : values_of_all_kinds()) {
      s.put(broker::vector{key, value}, value);
      s.put(key, value);
    }
  s.settle();
  for (const auto& key : values_of_all_kinds()) {
    CHECK(*s.at_master(key) == values_of_all_kinds().back());
    CHECK(*s.at_clone(key) == values_of_all_kinds().back());
    for (const auto& value : values_of_all_kinds())
      CHECK(*s.at_clone(broker::vector{key, value}) == value);
  }
  s.put(std::numeric_limits<double>::quiet_NaN(), "found");
  s.settle();
  CHECK(*s.at_clone(std::numeric_limits<double>::quiet_NaN()) == data{"found"});
}

TEST_CASE("amounts that a value of Broker's stores cannot take change nothing") {
  for (const auto& value : values_of_all_kinds())
    for (const auto& amount : values_of_all_kinds()) {
      auto sum = value;
      auto rest = value;
      const auto added = visit(broker::detail::value_adder{amount}, sum);
      const auto taken = visit(broker::detail::value_remover{amount}, rest);
      CHECK((added == ec::none || sum == value));
      CHECK((taken == ec::none || rest == value));
      if (value.is_none() || value.is_boolean() || value.is_address() || value.is_enum_value())
        CHECK((added == ec::type_clash && taken == ec::type_clash));
      if (value.is_list())
        CHECK(sum.to_list().back() == amount);
    }
  auto most = data{std::numeric_limits<broker::integer>::max()};
  CHECK(visit(broker::detail::value_adder{data{1}}, most) == ec::none);
  CHECK(most == data{std::numeric_limits<broker::integer>::min()});
  auto entry = data{broker::table{}};
  CHECK(visit(broker::detail::value_adder{data{broker::vector{1}}}, entry) == ec::invalid_data);
}

TEST_CASE("an entry of Broker's stores ends when its time has come, everywhere, and not before") {
  pair_of_stores s;
  s.tell_master({store_action::put, "short", 1, {}, 1s});
  s.tell_master({store_action::put, "kept", 1, {}, 1s});
  s.tell_master({store_action::put, "longer", 1, {}, 1s});
  s.tell_master({store_action::put, "at once", 1, {}, -1s});
  s.tell_master({store_action::put, "never", 1, {}, broker::infinite});
  s.tell_master({store_action::add, "kept", 1, data::type::none, {}});
  s.tell_master({store_action::add, "longer", 1, data::type::none, 3s});
  CHECK(s.at_master("at once").error() == ec::no_such_key);
  s.pass(900ms);
  CHECK(*s.at_master("short") == data{1});
  CHECK(*s.at_clone("short") == data{1});
  CHECK(s.at_clone("at once").error() == ec::no_such_key);
  s.now += 100ms; // no clone was told that it is over
  CHECK(s.at_master("short").error() == ec::no_such_key);
  CHECK(*s.ask_master({store_query::kind::keys, {}, {}}) ==
        data{broker::set{"kept", "longer", "never"}});
  s.pass(100ms);
  CHECK(s.at_clone("short").error() == ec::no_such_key);
  CHECK(*s.at_clone("longer") == data{2});
  s.pass(3s);
  CHECK(s.at_clone("longer").error() == ec::no_such_key);
  CHECK(*s.at_clone("kept") == data{2});
  CHECK(*s.at_clone("never") == data{1});
}

TEST_CASE("put_unique of Broker's stores succeeds once, and again when the entry has ended") {
  pair_of_stores s;
  s.settle();
  const auto unique = store_command{store_action::put_unique, "key", 1, {}, 1s};
  s.tell_clone(unique);
  s.tell_clone(unique);
  CHECK(s.result(0) == "none");
  s.settle();
  CHECK(s.result(0) == "T");
  CHECK(s.result(1) == "F");
  s.pass(1s);
  s.tell_clone(unique);
  s.settle();
  CHECK(s.result(2) == "T");
  CHECK(*s.at_clone("key") == data{1});
}

TEST_CASE("a clone of Broker's stores that has missed updates takes a new snapshot") {
  pair_of_stores s;
  s.put("a", 1);
  s.settle();
  REQUIRE(*s.at_clone("a") == data{1});
  s.connected = false;
  s.put("a", 2);
  s.put("b", 2);
  s.settle();
  s.connected = true;
  SUBCASE("seen with the next update") {
    s.put("c", 3);
    s.settle();
  }
  SUBCASE("seen when the master says that it is there") {
    s.pass(600ms);
  }
  CHECK(*s.at_clone("a") == data{2});
  CHECK(*s.at_clone("b") == data{2});
  CHECK(s.clone.idle());
}

TEST_CASE("commands of a clone that are lost on the way are done once, in their order") {
  pair_of_stores s;
  s.settle();
  const auto push = [&](int x) {
    s.tell_clone({store_action::add, "list", x, data::type::vector, {}});
  };
  push(1);
  s.connected = false;
  s.settle(); // the first is lost on its way
  s.connected = true;
  push(2); // and cannot be overtaken
  s.settle();
  CHECK_FALSE(s.at_master("list"));
  s.pass(1s);
  CHECK(*s.at_master("list") == data{broker::vector{1, 2}});
  push(3);
  s.master.receive(value_of(s.from_clone.messages.back()), s.now, s.from_master);
  s.from_clone = {};
  s.from_master = {}; // the acknowledgement is lost
  s.pass(1s);
  CHECK(*s.at_master("list") == data{broker::vector{1, 2, 3}});
  CHECK(*s.at_clone("list") == data{broker::vector{1, 2, 3}});
  CHECK(s.clone.idle());
}

TEST_CASE("a clone of Broker's stores without a master is stale after its time, and gives up "
          "commands after theirs") {
  pair_of_stores s;
  s.put("a", 1);
  s.settle();
  s.connected = false;
  s.pass(4s);
  s.tell_clone({store_action::put_unique, "b", 1, {}, {}});
  CHECK(*s.at_clone("a") == data{1});
  s.pass(119s);
  CHECK(s.result(0) == "none");
  s.pass(2s);
  CHECK(s.result(0) == "!no_such_master");
  CHECK(*s.at_clone("a") == data{1});
  s.pass(180s);
  CHECK(s.at_clone("a").error() == ec::stale_data);
  s.connected = true;
  s.pass(600ms);
  CHECK(*s.at_clone("a") == data{1});
  CHECK_FALSE(s.at_master("b"));
}

TEST_CASE("a clone of Broker's stores that finds no master answers after five seconds") {
  pair_of_stores s;
  s.connected = false;
  std::string answer = "none";
  s.clone.ask(
      {store_query::kind::get, "a", {}}, [&](auto x) { answer = to_string(x); }, s.now,
      s.from_clone);
  s.pass(4900ms);
  CHECK(answer == "none");
  s.pass(100ms);
  CHECK(answer == "!stale_data");
}

TEST_CASE("a clone goes over to another master once its own is silent, with what was not done") {
  pair_of_stores s;
  s.put("a", 1);
  s.put("b", 1);
  s.settle();
  store_master other{"s"};
  store_effects from_other;
  other.submit({store_action::put, "a", 2, {}, {}}, nullptr, s.now, from_other);
  other.say_alive(s.now, from_other);
  s.clone.receive(value_of(from_other.messages.back()), s.now, s.from_clone);
  CHECK(s.settle() == 0);
  CHECK(*s.at_clone("a") == data{1});
  s.connected = false;
  s.tell_clone({store_action::put_unique, "c", 1, {}, {}});
  s.pass(4s);
  s.connected = true;
  s.master = std::move(other);
  s.pass(1s);
  CHECK(*s.at_clone("a") == data{2});
  CHECK_FALSE(s.at_clone("b"));
  CHECK(s.result(0) == "T");
}

TEST_CASE("a snapshot of Broker's stores that is large comes in parts, and one with a gap again") {
  pair_of_stores s;
  const std::string large(400'000, 'x');
  for (auto i = 0; i < 20; ++i)
    s.put(i, large);
  s.master.receive(value_of(s.from_clone.messages.front()), s.now, s.from_master);
  s.from_clone = {};
  const auto parts = std::exchange(s.from_master.messages, {});
  REQUIRE(parts.size() > 5);
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (i != 2)
      s.clone.receive(value_of(parts[i]), s.now, s.from_clone);
  CHECK(s.at_clone(0).error() == ec::none);
  s.pass(2s);
  for (auto i = 0; i < 20; ++i)
    CHECK(s.at_clone(i)->to_string().size() == large.size());
}

TEST_CASE("an entry of Broker's stores that no message can hold is at its master only") {
  pair_of_stores s;
  s.put("a", "small");
  s.settle();
  s.put("a", std::string(broker::detail::max_entry_bytes + 1, 'x'));
  s.put("b", 1);
  s.settle();
  CHECK(s.at_master("a"));
  CHECK(s.at_clone("a").error() == ec::no_such_key);
  CHECK(*s.at_clone("b") == data{1});
  s.tell_clone({store_action::put_unique,
                "c",
                std::string(broker::detail::max_entry_bytes + 1, 'x'),
                {},
                {}});
  s.settle();
  CHECK(s.result(0) == "!invalid_data");
}

TEST_CASE("a clone has room for so many commands, and does not send them all at once") {
  pair_of_stores s;
  s.settle();
  while (s.clone.has_room())
    s.clone.submit({store_action::add, "n", 1u, data::type::count, {}}, nullptr, s.now,
                   s.from_clone);
  CHECK(s.from_clone.messages.size() == broker::detail::max_sent_commands);
  s.settle();
  CHECK(*s.at_clone("n") == data{broker::count{broker::detail::max_waiting_commands}});
  CHECK(s.clone.has_room());
}

TEST_CASE("what is no message of Broker's stores, or lies, changes nothing and does no harm") {
  pair_of_stores s;
  s.put("a", 1);
  s.tell_clone({store_action::add, "n", 1u, data::type::count, {}});
  // Every message that both have said, and copies with one field that is something else.
  std::vector<data> messages;
  for (auto round = 0; round < 3; ++round) {
    for (const auto& each : s.from_clone.messages)
      messages.push_back(value_of(each));
    for (const auto& each : s.from_master.messages)
      messages.push_back(value_of(each));
    const auto to_master = std::exchange(s.from_clone, {});
    for (const auto& each : to_master.messages)
      s.master.receive(value_of(each), s.now, s.from_master);
    s.put("b", round);
    s.master.tick(s.now, s.from_master);
    for (const auto& each : s.from_master.messages)
      messages.push_back(value_of(each));
    const auto to_clone = std::exchange(s.from_master, {});
    for (const auto& each : to_clone.messages)
      s.clone.receive(value_of(each), s.now, s.from_clone);
  }
  s.settle();
  const auto before = to_string(*s.at_clone("a")) + to_string(*s.at_clone("n"));
  auto lies = values_of_all_kinds();
  lies.push_back(std::numeric_limits<broker::count>::max());
  lies.push_back(broker::vector{0u, 1, 2, 99u, broker::nil});
  lies.push_back(broker::detail::new_store_id());
  REQUIRE(messages.size() > 5);
  for (const auto& message : messages) // no clone has asked for these snapshots, wrong or right
    for (std::size_t field = 0; field < message.to_list().size(); ++field)
      for (const auto& lie : lies) {
        auto changed = message.to_list();
        if (changed[0] != data{"snapshot"})
          continue;
        s.clone.receive(changed, s.now, s.from_clone);
        changed[field] = lie;
        s.clone.receive(changed, s.now, s.from_clone);
      }
  CHECK(to_string(*s.at_clone("a")) + to_string(*s.at_clone("n")) == before);
  for (const auto& message : messages)
    for (std::size_t field = 0; field < message.to_list().size(); ++field)
      for (const auto& lie : lies) {
        auto changed = message.to_list();
        if (changed[0] == data{"snapshot"} || (changed[0] == data{"put"} && field > 2) ||
            (changed[0] == data{"command"} && field > 0 && field != 2))
          continue; // what comes under the id of the master, or of the clone, may change the store
        changed[field] = lie;
        s.master.receive(changed, s.now, s.from_master);
        s.clone.receive(changed, s.now, s.from_clone);
        changed.pop_back();
        s.master.receive(changed, s.now, s.from_master);
        s.clone.receive(changed, s.now, s.from_clone);
      }
  for (const auto& each : lies) {
    s.master.receive(each, s.now, s.from_master);
    s.clone.receive(each, s.now, s.from_clone);
  }
  s.pass(3s);
  CHECK(to_string(*s.at_clone("a")) + to_string(*s.at_clone("n")) == before);
  s.put("a", "after all lies");
  s.tell_clone({store_action::put, "b", "the clone, too", {}, {}});
  s.pass(3s);
  CHECK(*s.at_clone("a") == data{"after all lies"});
  CHECK(*s.at_master("b") == data{"the clone, too"});
}
