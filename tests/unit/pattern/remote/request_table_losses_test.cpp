// SPDX-License-Identifier: BSD-3-Clause
#include "request_client.hpp"

using namespace pubsub;
using namespace pubsub::pattern;
using namespace pubsub::test;
using namespace std::chrono_literals;

TEST_CASE("where nobody serves a call fails at once, and where an operation is missing") {
  client c;
  c.served = false;
  const auto one = c.add(1);
  c.table.send(c.now);
  REQUIRE(done(one));
  CHECK(one->error == errc::no_such_service);
  c.meet(1);
  data_writer none;
  none.write_none();
  const auto other = c.table.add("what", none.bytes(), c.now + 1s, c.now);
  c.table.send(c.now);
  REQUIRE(done(other));
  CHECK(other->error == errc::no_such_operation);
  CHECK(other->error.context() == "service 's' has no operation 'what', but 'op'");
  CHECK(c.adds_up());
}

TEST_CASE("a call waits for an instance that is there and has not told of itself") {
  client c;
  const auto one = c.add(1);
  c.table.send(c.now);
  CHECK_FALSE(done(one));
  c.meet(1);
  c.answer(c.take());
  CHECK(done(one));
}

TEST_CASE("a call that is late is given up, and its result comes in vain") {
  client c;
  c.meet(1);
  const auto one = c.add(1, 100ms);
  c.table.send(c.now);
  c.pass(50ms);
  CHECK_FALSE(done(one));
  c.pass(50ms);
  REQUIRE(done(one));
  CHECK(one->error == errc::request_timeout);
  CHECK(c.cancels == 1);
  c.answer(c.take());
  CHECK(one->error == errc::request_timeout);
  CHECK(c.table.unfinished() == 0);
  CHECK(c.adds_up());
}

TEST_CASE("a call that is cancelled completes at once, once") {
  client c{client::of_mode(remote_mode::async)};
  c.meet(1);
  const auto one = c.add(1), other = c.add(2);
  c.table.send(c.now);
  CHECK(c.table.cancel(*one, c.now));
  CHECK_FALSE(c.table.cancel(*one, c.now));
  CHECK(one->error == errc::cancelled);
  c.answer(c.take());
  c.answer(c.take());
  CHECK(done(other));
  CHECK_FALSE(other->error);
  CHECK_FALSE(c.table.cancel(*other, c.now));
  CHECK(c.adds_up());
}

TEST_CASE("what a lost instance had is done by another if idempotent, and fails otherwise") {
  for (const bool idempotent : {false, true}) {
    client c{client::of_mode(remote_mode::async)};
    c.meet(1, idempotent);
    const auto calls = c.add_many(3);
    c.table.send(c.now);
    c.meet(2, idempotent);
    const auto old = c.take();
    c.sent.clear();
    c.table.lose(id_of(1), "is gone", c.now);
    if (idempotent) {
      REQUIRE(c.sent.size() == 3);
      while (!c.sent.empty()) {
        CHECK(c.sent.front().to == id_of(2));
        c.answer(c.take());
      }
      CHECK(c.table.counters().repeated == 3);
      CHECK_FALSE(calls[2]->error);
    } else {
      CHECK(c.sent.empty());
      CHECK(calls[2]->error == errc::service_lost);
    }
    for (const auto& each : calls)
      CHECK(done(each));
    c.answer(old); // too late
    CHECK(c.table.counters().refused == 1);
    CHECK(c.adds_up());
  }
}

TEST_CASE("an idempotent operation is not given to instances for ever") {
  remote_options options = client::of_mode(remote_mode::pipeline);
  options.max_losses = 2;
  client c{options};
  c.meet(1, true);
  const auto one = c.add(1);
  c.table.send(c.now);
  for (std::uint8_t i = 1; i <= 3; ++i) {
    CHECK_FALSE(done(one));
    c.meet(static_cast<std::uint8_t>(i + 1), true);
    c.table.lose(id_of(i), "is gone", c.now);
  }
  REQUIRE(done(one));
  CHECK(one->error == errc::service_lost);
}

TEST_CASE("an instance that is silent is lost, and one that comes back begins anew") {
  client c;
  c.meet(1);
  const auto one = c.add(1, 60s);
  c.table.send(c.now);
  const auto old = c.take();
  c.pass(std::chrono::ceil<std::chrono::milliseconds>(remote_options{}.liveness_timeout));
  REQUIRE(done(one));
  CHECK(one->error == errc::service_lost);
  CHECK(c.table.instances().all().empty());
  c.meet(1);
  const auto other = c.add(2);
  c.table.send(c.now);
  const auto fresh = c.take();
  CHECK(fresh.first == 0);
  CHECK(fresh.stream > old.stream);
}

TEST_CASE("what an instance has not begun another does, idempotent or not") {
  client c{client::of_mode(remote_mode::async)};
  c.meet(1);
  const auto calls = c.add_many(2);
  c.table.send(c.now);
  const auto at = c.take();
  c.sent.clear();
  c.meet(2);
  c.meet(1, false, true); // it leaves
  service_reply<value_list> head;
  head.instance = at.to;
  head.stream = at.stream;
  head.untaken = {{0, ~std::uint64_t{0}}}; // more than there is
  c.hear(head);
  REQUIRE(c.sent.size() == 2);
  CHECK(c.sent.front().to == id_of(2));
  CHECK(c.sent.front().arguments == std::vector<std::uint64_t>{0});
}

TEST_CASE("a result of a handler that failed is an error with its code and text") {
  client c{client::of_mode(remote_mode::bulk)};
  c.meet(1);
  const auto calls = c.add_many(3);
  c.table.send(c.now);
  c.answer(c.take(), {{1, {errc::operation_failed, "std::out_of_range: at"}}});
  CHECK_FALSE(calls[0]->error);
  CHECK(calls[1]->error == errc::operation_failed);
  CHECK(calls[1]->error.context() == "std::out_of_range: at");
  CHECK_FALSE(calls[2]->error);
  CHECK(c.table.counters().failed == 1);
  CHECK(c.adds_up());
}

TEST_CASE("replies that come twice, or for what was never asked, change nothing") {
  client c;
  c.meet(1);
  const auto one = c.add(1);
  c.table.send(c.now);
  const auto at = c.take();
  c.answer(at);
  c.answer(at);
  auto strange = at;
  strange.first = 1'000;
  c.answer(strange);
  strange.to = id_of(9);
  c.answer(strange);
  CHECK(c.table.counters().done == 1);
  CHECK(c.adds_up());
}

TEST_CASE("a table that is abandoned completes all calls") {
  client c;
  c.meet(1);
  const auto calls = c.add_many(3);
  c.table.send(c.now);
  c.table.abandon({errc::shutting_down});
  for (const auto& each : calls) {
    REQUIRE(done(each));
    CHECK(each->error == errc::shutting_down);
  }
  CHECK(c.adds_up());
}

TEST_CASE("a result that waits for its turn completes at the timeout of its call") {
  auto options = client::of_mode(remote_mode::hybrid);
  options.bulk_operations = 1;
  client c{options};
  c.meet(1);
  const auto slow = c.add(0, 30s);
  const auto quick = c.add(1, 100ms);
  c.table.send(c.now, true);
  c.take();
  c.answer(c.take());
  CHECK_FALSE(done(quick)); // in the order of the calls
  c.pass(100ms);
  REQUIRE(done(quick));
  CHECK_FALSE(quick->error);
  CHECK_FALSE(done(slow));
}

TEST_CASE("what an instance says of all places to come costs no more than those there are") {
  client c;
  c.meet(1);
  const auto calls = c.add_many(1'000);
  c.table.send(c.now, true);
  while (!c.sent.empty())
    c.answer(c.take());
  const auto last = c.add(7);
  c.table.send(c.now, true);
  const auto sent = c.take();
  c.meet(2);
  service_reply<value_list> head;
  head.instance = id_of(1);
  head.stream = sent.stream;
  head.untaken = {{0, ~std::uint64_t{0}}};
  c.hear(head);
  REQUIRE(c.sent.size() == 1); // asked again, somewhere
  CHECK(c.take().arguments == std::vector<std::uint64_t>{7});
  CHECK_FALSE(done(last));
}
