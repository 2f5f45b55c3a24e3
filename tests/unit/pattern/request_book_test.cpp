#include "pattern/request_book.hpp"

#include "support/ids.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <set>

using namespace pubsub;
using namespace pubsub::pattern;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

struct request {
  endpoint_id to;
  std::uint64_t stream = 0, first = 0;
  std::vector<std::uint64_t> arguments;
};

/// A client whose clock and network are driven by hand.
struct client final : remote_port {
  explicit client(const remote_options& options = of_mode(remote_mode::pipeline))
      : book(id_of(100), "s", options, *this) {}

  static remote_options of_mode(remote_mode mode) {
    remote_options result;
    result.mode = mode;
    return result;
  }
  outcome to_instance(const endpoint_id& id, std::span<const std::byte> message) override {
    if (full || full_ones.contains(id))
      return outcome::not_now;
    if (message.size() > longest)
      return outcome::too_long;
    const auto view = data_view::make(message);
    REQUIRE(view.has_value());
    if (parse_cancel(*view)) {
      ++cancels;
      return outcome::sent;
    }
    const auto parsed = parse_request(*view);
    REQUIRE(parsed);
    request one{id, parsed->at.stream, parsed->at.first, {}};
    for (const auto& each : parsed->arguments.elements())
      one.arguments.push_back(each.type() == data_type::count ? each.as_count() : 0);
    sent.push_back(one);
    return outcome::sent;
  }
  bool anybody_serves() override { return served; }

  void meet(std::uint8_t n, bool idempotent = false, bool leaving = false) {
    data_writer out;
    write_status(out, {id_of(n), leaving, 1, {{"op", idempotent}}});
    hear(out);
  }
  void hear(const data_writer& out) {
    book.receive(make_data_message("t", data_view::make(out.bytes())->to_data()), now);
  }
  std::shared_ptr<remote_call> add(std::uint64_t argument, std::chrono::milliseconds limit = 10s) {
    data_writer out;
    out.write_count(argument);
    return book.add("op", out.bytes(), now + limit, now);
  }
  std::vector<std::shared_ptr<remote_call>> add_many(std::uint64_t n) {
    std::vector<std::shared_ptr<remote_call>> result;
    for (std::uint64_t i = 0; i < n; ++i)
      result.push_back(add(i));
    return result;
  }
  /// The results are the arguments.
  void answer(const request& to, std::vector<failed_operation> failed = {}) {
    reply_head head;
    head.instance = to.to;
    head.stream = to.stream;
    head.places = {{to.first, to.arguments.size()}};
    head.failed = std::move(failed);
    data_writer results, out;
    for (const auto each : to.arguments)
      results.write_count(each);
    write_reply(out, head, to.arguments.size(), results.bytes());
    hear(out);
  }
  request take() {
    REQUIRE_FALSE(sent.empty());
    const auto result = sent.front();
    sent.pop_front();
    return result;
  }
  void pass(std::chrono::milliseconds time) {
    now += time;
    book.tick(now);
  }
  bool adds_up() const {
    const auto& x = book.counters();
    return x.submitted == x.done + x.failed + book.unfinished();
  }

  bool full = false, served = true;
  std::set<endpoint_id> full_ones;
  std::size_t longest = 1'000'000;
  std::size_t cancels = 0;
  std::deque<request> sent;
  request_book::time now{1h};
  request_book book;
};

bool done(const std::shared_ptr<remote_call>& call) {
  return call->done;
}

} // namespace

TEST_CASE("in mode sync the next request goes when the reply is here") {
  client c{client::of_mode(remote_mode::sync)};
  c.meet(1);
  const auto calls = c.add_many(3);
  c.book.send(c.now, true);
  for (std::uint64_t i = 0; i < 3; ++i) {
    REQUIRE(c.sent.size() == 1);
    const auto one = c.take();
    CHECK(one.arguments == std::vector<std::uint64_t>{i});
    c.answer(one);
    CHECK(done(calls[i]));
    CHECK(calls[i]->result.as_count() == i);
  }
  CHECK(c.book.unfinished() == 0);
  CHECK(c.adds_up());
}

TEST_CASE("in mode bulk all that wait go in one request to each instance") {
  client c{client::of_mode(remote_mode::bulk)};
  c.meet(1);
  c.meet(2);
  const auto calls = c.add_many(10);
  c.book.send(c.now, true);
  REQUIRE(c.sent.size() == 2);
  const auto one = c.take(), other = c.take();
  CHECK(one.arguments.size() == 5);
  CHECK(other.arguments.size() == 5);
  CHECK(one.to != other.to);
  const auto more = c.add_many(7);
  c.book.send(c.now, true);
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
  c.book.send(c.now);
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
  c.book.send(c.now);
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
  c.book.send(c.now);
  REQUIRE(c.sent.size() == 2);
  CHECK(c.take().arguments.size() == 32);
  CHECK(c.take().arguments.size() == 8);
  c.add(1);
  c.book.send(c.now);
  CHECK(c.take().arguments.size() == 1);
  SUBCASE("unless another worker can begin them") {
    c.meet(2);
    c.add_many(16);
    c.book.send(c.now);
    CHECK(c.sent.size() >= 8);
  }
  SUBCASE("or they are long") {
    for (int i = 0; i < 4; ++i) {
      data_writer out;
      out.write_string(std::string(10'000, 'x'));
      c.book.add("op", out.bytes(), c.now + 1s, c.now);
    }
    c.book.send(c.now);
    CHECK(c.sent.size() == 4);
  }
}

TEST_CASE("in mode hybrid bulks fill the window, and a part of one waits for company") {
  auto options = client::of_mode(remote_mode::hybrid);
  options.bulk_operations = 4;
  options.window_operations = 8;
  client c{options};
  c.meet(1);
  const auto calls = c.add_many(11);
  c.book.send(c.now);
  REQUIRE(c.sent.size() == 2);
  CHECK(c.take().arguments.size() == 4);
  const auto second = c.take();
  c.answer(second);
  CHECK(c.sent.empty()); // three wait
  c.book.send(c.now, true);
  REQUIRE(c.sent.size() == 1);
  CHECK(c.take().arguments.size() == 3);
}

TEST_CASE("the instance with the least outstanding is asked") {
  client c;
  c.meet(1);
  c.meet(2);
  const auto calls = c.add_many(4);
  c.book.send(c.now);
  std::map<endpoint_id, std::size_t> asked;
  for (const auto& each : c.sent)
    ++asked[each.to];
  CHECK(asked[id_of(1)] == 2);
  CHECK(asked[id_of(2)] == 2);
}

TEST_CASE("where nobody serves a call fails at once, and where an operation is missing") {
  client c;
  c.served = false;
  const auto one = c.add(1);
  c.book.send(c.now);
  REQUIRE(done(one));
  CHECK(one->error == errc::no_such_service);
  c.meet(1);
  data_writer none;
  none.write_none();
  const auto other = c.book.add("what", none.bytes(), c.now + 1s, c.now);
  c.book.send(c.now);
  REQUIRE(done(other));
  CHECK(other->error == errc::no_such_operation);
  CHECK(other->error.context() == "service 's' has no operation 'what', but 'op'");
  CHECK(c.adds_up());
}

TEST_CASE("a call waits for an instance that is there and has not told of itself") {
  client c;
  const auto one = c.add(1);
  c.book.send(c.now);
  CHECK_FALSE(done(one));
  c.meet(1);
  c.answer(c.take());
  CHECK(done(one));
}

TEST_CASE("a call that is late is given up, and its result comes in vain") {
  client c;
  c.meet(1);
  const auto one = c.add(1, 100ms);
  c.book.send(c.now);
  c.pass(50ms);
  CHECK_FALSE(done(one));
  c.pass(50ms);
  REQUIRE(done(one));
  CHECK(one->error == errc::request_timeout);
  CHECK(c.cancels == 1);
  c.answer(c.take());
  CHECK(one->error == errc::request_timeout);
  CHECK(c.book.unfinished() == 0);
  CHECK(c.adds_up());
}

TEST_CASE("a call that is cancelled completes at once, once") {
  client c{client::of_mode(remote_mode::async)};
  c.meet(1);
  const auto one = c.add(1), other = c.add(2);
  c.book.send(c.now);
  CHECK(c.book.cancel(*one, c.now));
  CHECK_FALSE(c.book.cancel(*one, c.now));
  CHECK(one->error == errc::cancelled);
  c.answer(c.take());
  c.answer(c.take());
  CHECK(done(other));
  CHECK_FALSE(other->error);
  CHECK_FALSE(c.book.cancel(*other, c.now));
  CHECK(c.adds_up());
}

TEST_CASE("what a lost instance had is done by another if idempotent, and fails otherwise") {
  for (const bool idempotent : {false, true}) {
    client c{client::of_mode(remote_mode::async)};
    c.meet(1, idempotent);
    const auto calls = c.add_many(3);
    c.book.send(c.now);
    c.meet(2, idempotent);
    const auto old = c.take();
    c.sent.clear();
    c.book.lose(id_of(1), c.now);
    if (idempotent) {
      REQUIRE(c.sent.size() == 3);
      while (!c.sent.empty()) {
        CHECK(c.sent.front().to == id_of(2));
        c.answer(c.take());
      }
      CHECK(c.book.counters().repeated == 3);
      CHECK_FALSE(calls[2]->error);
    } else {
      CHECK(c.sent.empty());
      CHECK(calls[2]->error == errc::service_lost);
    }
    for (const auto& each : calls)
      CHECK(done(each));
    c.answer(old); // too late
    CHECK(c.book.counters().refused == 1);
    CHECK(c.adds_up());
  }
}

TEST_CASE("an idempotent operation is not given to instances for ever") {
  remote_options options = client::of_mode(remote_mode::pipeline);
  options.max_losses = 2;
  client c{options};
  c.meet(1, true);
  const auto one = c.add(1);
  c.book.send(c.now);
  for (std::uint8_t i = 1; i <= 3; ++i) {
    CHECK_FALSE(done(one));
    c.meet(static_cast<std::uint8_t>(i + 1), true);
    c.book.lose(id_of(i), c.now);
  }
  REQUIRE(done(one));
  CHECK(one->error == errc::service_lost);
}

TEST_CASE("an instance that is silent is lost, and one that comes back begins anew") {
  client c;
  c.meet(1);
  const auto one = c.add(1, 60s);
  c.book.send(c.now);
  const auto old = c.take();
  c.pass(remote_options{}.silence);
  REQUIRE(done(one));
  CHECK(one->error == errc::service_lost);
  CHECK(c.book.instances() == 0);
  c.meet(1);
  const auto other = c.add(2);
  c.book.send(c.now);
  const auto fresh = c.take();
  CHECK(fresh.first == 0);
  CHECK(fresh.stream > old.stream);
}

TEST_CASE("what an instance has not begun another does, idempotent or not") {
  client c{client::of_mode(remote_mode::async)};
  c.meet(1);
  const auto calls = c.add_many(2);
  c.book.send(c.now);
  const auto at = c.take();
  c.sent.clear();
  c.meet(2);
  c.meet(1, false, true); // it leaves
  reply_head head;
  head.instance = at.to;
  head.stream = at.stream;
  head.untaken = {{0, ~std::uint64_t{0}}}; // more than there is
  data_writer out;
  write_reply(out, head, 0, {});
  c.hear(out);
  REQUIRE(c.sent.size() == 2);
  CHECK(c.sent.front().to == id_of(2));
  CHECK(c.sent.front().arguments == std::vector<std::uint64_t>{0});
}

TEST_CASE("a result of a handler that failed is an error with its code and text") {
  client c{client::of_mode(remote_mode::bulk)};
  c.meet(1);
  const auto calls = c.add_many(3);
  c.book.send(c.now);
  c.answer(c.take(), {{1, {errc::operation_failed, "std::out_of_range: at"}}});
  CHECK_FALSE(calls[0]->error);
  CHECK(calls[1]->error == errc::operation_failed);
  CHECK(calls[1]->error.context() == "std::out_of_range: at");
  CHECK_FALSE(calls[2]->error);
  CHECK(c.book.counters().failed == 1);
  CHECK(c.adds_up());
}

TEST_CASE("replies that come twice, or for what was never asked, change nothing") {
  client c;
  c.meet(1);
  const auto one = c.add(1);
  c.book.send(c.now);
  const auto at = c.take();
  c.answer(at);
  c.answer(at);
  auto strange = at;
  strange.first = 1'000;
  c.answer(strange);
  strange.to = id_of(9);
  c.answer(strange);
  CHECK(c.book.counters().done == 1);
  CHECK(c.adds_up());
}

TEST_CASE("where a link is full requests wait, and go later") {
  client c;
  c.meet(1);
  c.full = true;
  const auto one = c.add(1);
  c.book.send(c.now);
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
  const auto one = c.book.add("op", out.bytes(), c.now + 1s, c.now);
  REQUIRE(done(one));
  CHECK(one->error == errc::limit_exceeded);
  c.add_many(3);
  c.book.send_bulk(c.now);
  REQUIRE(c.sent.size() == 2);
  CHECK(c.take().arguments.size() == 2);
}

TEST_CASE("a book that is abandoned completes all calls") {
  client c;
  c.meet(1);
  const auto calls = c.add_many(3);
  c.book.send(c.now);
  c.book.abandon({errc::shutting_down});
  for (const auto& each : calls) {
    REQUIRE(done(each));
    CHECK(each->error == errc::shutting_down);
  }
  CHECK(c.adds_up());
}

TEST_CASE("an instance to which nothing can be sent does not hold others up") {
  client c;
  c.meet(1);
  c.meet(2);
  c.full_ones.insert(id_of(1));
  const auto calls = c.add_many(10);
  c.book.send(c.now, true);
  CHECK(c.sent.size() == 10);
  for (const auto& each : c.sent)
    CHECK(each.to == id_of(2));
  c.full_ones.clear();
  c.pass(2ms);
  c.add(1);
  c.book.send(c.now, true);
  CHECK(c.sent.back().to == id_of(1));
}

TEST_CASE("a request that is too long goes in parts, an operation that is fails") {
  client c{client::of_mode(remote_mode::bulk)};
  c.meet(1);
  c.longest = 200;
  const auto calls = c.add_many(100);
  c.book.send(c.now, true);
  std::size_t operations = 0;
  while (operations < 100) {
    const auto one = c.take();
    operations += one.arguments.size();
    c.answer(one);
  }
  CHECK(std::ranges::all_of(calls, done));
  CHECK(c.book.counters().done == 100);
  c.longest = 10;
  const auto call = c.add(1);
  c.book.send(c.now, true);
  REQUIRE(call->done);
  CHECK(call->error.code() == errc::limit_exceeded);
  CHECK(c.adds_up());
}

TEST_CASE("an instance may come to have other operations") {
  client c;
  data_writer out;
  write_status(out, {id_of(1), false, 1, {{"other", false}}});
  c.hear(out);
  const auto refused = c.add(1);
  c.book.send(c.now, true);
  REQUIRE(refused->done);
  CHECK(refused->error.code() == errc::no_such_operation);
  c.meet(1);
  c.add(2);
  c.book.send(c.now, true);
  CHECK(c.sent.size() == 1);
}

TEST_CASE("a request that is not full waits for company, but not long") {
  auto options = client::of_mode(remote_mode::hybrid);
  client c{options};
  c.meet(1);
  c.pass(0ms);
  c.add(0);
  c.book.send(c.now);
  REQUIRE(c.sent.size() == 1); // nothing else is under way
  c.add_many(options.bulk_operations - 1);
  c.book.send(c.now);
  CHECK(c.sent.size() == 1);
  SUBCASE("until it is full") {
    c.add(1);
    c.book.send(c.now);
    CHECK(c.sent.size() == 2);
  }
  SUBCASE("until it takes too long") {
    REQUIRE(c.book.next_tick() < c.now + 1ms);
    c.now = c.book.next_tick();
    c.book.tick(c.now);
    CHECK(c.sent.size() == 2);
  }
  SUBCASE("until somebody waits") {
    c.book.send(c.now, true);
    CHECK(c.sent.size() == 2);
  }
  SUBCASE("until nothing else is under way") {
    c.answer(c.take());
    CHECK(c.sent.size() == 1);
  }
}

TEST_CASE("a full window waits for room for a whole request") {
  auto options = client::of_mode(remote_mode::hybrid);
  options.bulk_operations = 10;
  options.window_operations = 25;
  client c{options};
  c.meet(1);
  c.add_many(100);
  c.book.send(c.now, true);
  REQUIRE(c.sent.size() == 2);
  c.answer(c.take());
  CHECK(c.sent.size() == 2);
  CHECK(c.sent.back().arguments.size() == 10);
}

TEST_CASE("a result that waits for its turn completes at the timeout of its call") {
  auto options = client::of_mode(remote_mode::hybrid);
  options.bulk_operations = 1;
  client c{options};
  c.meet(1);
  const auto slow = c.add(0, 30s);
  const auto quick = c.add(1, 100ms);
  c.book.send(c.now, true);
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
  c.book.send(c.now, true);
  while (!c.sent.empty())
    c.answer(c.take());
  const auto last = c.add(7);
  c.book.send(c.now, true);
  const auto sent = c.take();
  c.meet(2);
  reply_head head;
  head.instance = id_of(1);
  head.stream = sent.stream;
  head.untaken = {{0, ~std::uint64_t{0}}};
  data_writer out;
  write_reply(out, head, 0, {});
  c.hear(out);
  REQUIRE(c.sent.size() == 1); // asked again, somewhere
  CHECK(c.take().arguments == std::vector<std::uint64_t>{7});
  CHECK_FALSE(done(last));
}
