// SPDX-License-Identifier: BSD-3-Clause
#include "request_client.hpp"

#include <algorithm>

using namespace pubsub;
using namespace pubsub::pattern;
using namespace pubsub::test;
using namespace std::chrono_literals;

TEST_CASE("in mode sync the next request goes when the reply is here") {
  client c{client::of_mode(remote_mode::sync)};
  c.meet(1);
  const auto calls = c.add_many(3);
  c.table.send(c.now, true);
  for (std::uint64_t i = 0; i < 3; ++i) {
    REQUIRE(c.sent.size() == 1);
    const auto one = c.take();
    CHECK(one.arguments == std::vector<std::uint64_t>{i});
    c.answer(one);
    CHECK(done(calls[i]));
    CHECK(calls[i]->result.as_count() == i);
  }
  CHECK(c.table.unfinished() == 0);
  CHECK(c.adds_up());
}

TEST_CASE("in mode bulk all that wait go in one request to each instance") {
  client c{client::of_mode(remote_mode::bulk)};
  c.meet(1);
  c.meet(2);
  const auto calls = c.add_many(10);
  c.table.send(c.now, true);
  REQUIRE(c.sent.size() == 2);
  const auto one = c.take(), other = c.take();
  CHECK(one.arguments.size() == 5);
  CHECK(other.arguments.size() == 5);
  CHECK(one.to != other.to);
  const auto more = c.add_many(7);
  c.table.send(c.now, true);
  CHECK(c.sent.empty());
  c.answer(one);
  CHECK(c.sent.size() == 1);
  CHECK(done(calls[0]));
}

TEST_CASE("in mode async so many requests go at a time, and results come in any order") {
  auto options = client::of_mode(remote_mode::async);
  options.parallel = 3;
  client c{options};
  c.meet(1);
  const auto calls = c.add_many(5);
  c.table.send(c.now);
  REQUIRE(c.sent.size() == 3);
  const auto first = c.take(), second = c.take();
  c.answer(second);
  CHECK(done(calls[1]));
  CHECK_FALSE(done(calls[0]));
  CHECK(c.sent.size() == 2);
  c.answer(first);
  CHECK(done(calls[0]));
}

TEST_CASE("in mode pipeline each is a request, and results complete in the order of the calls") {
  auto options = client::of_mode(remote_mode::pipeline);
  options.window_operations = 4;
  client c{options};
  c.meet(1);
  c.meet(2);
  const auto calls = c.add_many(6);
  c.table.send(c.now);
  REQUIRE(c.sent.size() == 4);
  const auto first = c.take(), second = c.take();
  CHECK(first.to != second.to);
  c.answer(second);
  CHECK_FALSE(done(calls[1]));
  CHECK(c.sent.size() == 3);
  c.answer(first);
  CHECK(done(calls[0]));
  CHECK(done(calls[1]));
}

TEST_CASE("in mode pipeline requests that can leave together share a message, and wait for none") {
  client c;
  c.meet(1);
  c.add_many(40);
  c.table.send(c.now);
  REQUIRE(c.sent.size() == 2);
  CHECK(c.take().arguments.size() == 32);
  CHECK(c.take().arguments.size() == 8);
  c.add(1);
  c.table.send(c.now);
  CHECK(c.take().arguments.size() == 1);
  SUBCASE("unless another worker can begin them") {
    c.meet(2);
    c.add_many(16);
    c.table.send(c.now);
    CHECK(c.sent.size() >= 8);
  }
  SUBCASE("or they are long") {
    for (int i = 0; i < 4; ++i) {
      data_writer out;
      out.write_string(std::string(10'000, 'x'));
      c.table.add("op", out.bytes(), c.now + 1s, c.now);
    }
    c.table.send(c.now);
    CHECK(c.sent.size() == 4);
  }
}

TEST_CASE("in mode hybrid bulks fill the window, and a part of one waits for more") {
  client c{client::hybrid_of(4, 8)};
  c.meet(1);
  const auto calls = c.add_many(11);
  c.table.send(c.now);
  REQUIRE(c.sent.size() == 2);
  CHECK(c.take().arguments.size() == 4);
  const auto second = c.take();
  c.answer(second);
  CHECK(c.sent.empty()); // three wait
  c.table.send(c.now, true);
  REQUIRE(c.sent.size() == 1);
  CHECK(c.take().arguments.size() == 3);
}

TEST_CASE("the instance with the least outstanding is asked") {
  client c;
  c.meet(1);
  c.meet(2);
  const auto calls = c.add_many(4);
  c.table.send(c.now);
  std::map<endpoint_id, std::size_t> asked;
  for (const auto& each : c.sent)
    ++asked[each.to];
  CHECK(asked[id_of(1)] == 2);
  CHECK(asked[id_of(2)] == 2);
}

TEST_CASE("where a link is full requests wait, and go later") {
  client c;
  c.meet(1);
  c.full = true;
  const auto one = c.add(1);
  c.table.send(c.now);
  CHECK(c.sent.empty());
  c.full = false;
  c.pass(1ms);
  CHECK(c.sent.size() == 1);
}

TEST_CASE("arguments that are too long are refused, and long ones share no request") {
  auto options = client::of_mode(remote_mode::bulk);
  options.max_request_bytes = 20;
  client c{options};
  c.meet(1);
  data_writer out;
  out.write_string("a string of more than 20 bytes");
  const auto one = c.table.add("op", out.bytes(), c.now + 1s, c.now);
  REQUIRE(done(one));
  CHECK(one->error == errc::limit_exceeded);
  c.add_many(3);
  c.table.send_bulk(c.now);
  REQUIRE(c.sent.size() == 2);
  CHECK(c.take().arguments.size() == 2);
}

TEST_CASE("an instance to which nothing can be sent does not hold others up") {
  client c;
  c.meet(1);
  c.meet(2);
  c.full_ones.insert(id_of(1));
  const auto calls = c.add_many(10);
  c.table.send(c.now, true);
  CHECK(c.sent.size() == 10);
  for (const auto& each : c.sent)
    CHECK(each.to == id_of(2));
  c.full_ones.clear();
  c.pass(2ms);
  c.add(1);
  c.table.send(c.now, true);
  CHECK(c.sent.back().to == id_of(1));
}

TEST_CASE("a request that is too long goes in parts, an operation that is fails") {
  client c{client::of_mode(remote_mode::bulk)};
  c.meet(1);
  c.longest = 200;
  const auto calls = c.add_many(100);
  c.table.send(c.now, true);
  std::size_t operations = 0;
  while (operations < 100) {
    const auto one = c.take();
    operations += one.arguments.size();
    c.answer(one);
  }
  CHECK(std::ranges::all_of(calls, done));
  CHECK(c.table.counters().done == 100);
  c.longest = 10;
  const auto call = c.add(1);
  c.table.send(c.now, true);
  REQUIRE(call->done);
  CHECK(call->error.code() == errc::limit_exceeded);
  CHECK(c.adds_up());
}

TEST_CASE("an instance may come to have other operations") {
  client c;
  c.hear(service_status{id_of(1), false, 1, {{"other", false}}});
  const auto refused = c.add(1);
  c.table.send(c.now, true);
  REQUIRE(refused->done);
  CHECK(refused->error.code() == errc::no_such_operation);
  c.meet(1);
  c.add(2);
  c.table.send(c.now, true);
  CHECK(c.sent.size() == 1);
}

TEST_CASE("a request that is not full waits for more, but not long") {
  auto options = client::of_mode(remote_mode::hybrid);
  client c{options};
  c.meet(1);
  c.pass(0ms);
  c.add(0);
  c.table.send(c.now);
  REQUIRE(c.sent.size() == 1); // nothing else is under way
  c.add_many(options.bulk_operations - 1);
  c.table.send(c.now);
  CHECK(c.sent.size() == 1);
  SUBCASE("until it is full") {
    c.add(1);
    c.table.send(c.now);
    CHECK(c.sent.size() == 2);
  }
  SUBCASE("until it takes too long") {
    REQUIRE(c.table.next_tick() < c.now + 1ms);
    c.now = c.table.next_tick();
    c.table.tick(c.now);
    CHECK(c.sent.size() == 2);
  }
  SUBCASE("until a thread waits for a result") {
    c.table.send(c.now, true);
    CHECK(c.sent.size() == 2);
  }
  SUBCASE("until nothing else is under way") {
    c.answer(c.take());
    CHECK(c.sent.size() == 1);
  }
}

TEST_CASE("a full window waits for room for a whole request") {
  client c{client::hybrid_of(10, 25)};
  c.meet(1);
  c.add_many(100);
  c.table.send(c.now, true);
  REQUIRE(c.sent.size() == 2);
  c.answer(c.take());
  CHECK(c.sent.size() == 2);
  CHECK(c.sent.back().arguments.size() == 10);
}
