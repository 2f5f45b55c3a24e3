// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/remote/service_results.hpp"

#include "support/ids.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace pubsub;
using namespace pubsub::pattern;
using namespace pubsub::test;

namespace {

using namespace std::chrono_literals;

/// Work of so many operations, whose arguments are their numbers.
struct numbered_work {
  explicit numbered_work(const service_operation& what, std::size_t count) {
    out.begin_vector(count);
    for (std::size_t i = 0; i < count; ++i)
      out.write_count(i);
    work.client = id_of(1);
    work.count = count;
    work.first = 100;
    work.what = &what;
    work.arguments = data_view::make(out.bytes())->elements().begin();
  }
  data_writer out;
  service_work work;
};

struct parsed_reply {
  data_writer bytes;
  std::optional<reply_view> reply;
  const reply_view& operator*() const { return *reply; }
};

parsed_reply written(service_results& results) {
  parsed_reply out;
  results.write(out.bytes);
  out.reply = parse<reply_view>(*data_view::make(out.bytes.bytes()));
  REQUIRE(out.reply);
  return out;
}

/// Of a reply that has one result.
error only_error(const reply_view& reply) {
  REQUIRE(reply.failed == std::vector<sequence_range>{{0, 1}});
  REQUIRE(reply.results.size() == 1);
  return read_error(*reply.results.elements().begin());
}

constexpr service_pace without_haste{1h, 1h};

service_results make(std::size_t max_result_bytes = 1'000,
                     const service_pace& pace = without_haste) {
  return {"s", id_of(9), max_result_bytes, pace};
}

service_operation returns_text(std::size_t bytes) {
  return {[bytes](const data_view&, data_writer& result) -> expected<void> {
            result.write_string(std::string(bytes, 'x'));
            return {};
          },
          false};
}

const service_operation odd_ones_fail{
    [](const data_view& x, data_writer& result) -> expected<void> {
      if (x.as_count() % 2 == 1)
        throw std::out_of_range{"odd"};
      result.write(data{count{x.as_count() * 10}});
      return {};
    },
    false};

} // namespace

TEST_CASE("results of a request go in one reply, with the errors among them") {
  numbered_work three{odd_ones_fail, 3};
  auto results = make();
  results.run(three.work);
  CHECK(three.work.count == 0);
  const auto out = written(results);
  const auto& reply = *out;
  CHECK(reply.places == std::vector<sequence_range>{{100, 3}});
  CHECK(reply.failed == std::vector<sequence_range>{{1, 1}});
  REQUIRE(reply.results.size() == 3);
  auto result = reply.results.elements().begin();
  CHECK((*result).as_count() == 0);
  CHECK(read_error(*++result).code() == errc::operation_failed);
  CHECK(read_error(*result).context() == "std::out_of_range: odd");
}

TEST_CASE("a handler that writes no value, half of one or two of them is an error of its own") {
  const auto writes = [](std::size_t n) {
    return service_operation{[n](const data_view&, data_writer& result) -> expected<void> {
                               if (n == 9)
                                 result.begin_vector(2);
                               for (std::size_t i = 0; i < n % 9; ++i)
                                 result.write_count(i);
                               return {};
                             },
                             false};
  };
  for (const std::size_t n : {0, 2, 9}) {
    const auto what = writes(n);
    numbered_work one{what, 1};
    auto results = make();
    results.run(one.work);
    const auto out = written(results);
    CHECK(only_error(*out).context() == "the handler has not written one value");
  }
}

TEST_CASE("a result that is too long is an error that says so") {
  const auto long_one = returns_text(2'000);
  numbered_work one{long_one, 1};
  auto results = make();
  results.run(one.work);
  const auto out = written(results);
  CHECK(only_error(*out).code() == errc::limit_exceeded);
}

TEST_CASE("a reply is due when there is enough of it, and the rest of the work goes on") {
  const auto long_one = returns_text(100'000);
  numbered_work ten{long_one, 10};
  auto results = make(1'000'000);
  std::size_t replies = 0, operations = 0;
  while (ten.work.count > 0) {
    results.run(ten.work);
    if (ten.work.count > 0)
      REQUIRE(results.is_due());
    const auto out = written(results);
    CHECK((*out).places == std::vector<sequence_range>{{100 + operations, results.size()}});
    operations += results.size();
    results.clear();
    CHECK(results.empty());
    ++replies;
  }
  CHECK(operations == 10);
  CHECK(replies > 2);
}

TEST_CASE("what was cancelled is not done") {
  std::size_t calls = 0;
  const service_operation counted{[&](const data_view& x, data_writer& result) -> expected<void> {
                                    ++calls;
                                    CHECK(x.as_count() != 1);
                                    result.write_none();
                                    return {};
                                  },
                                  false};
  numbered_work three{counted, 3};
  three.work.cancelled = {101};
  auto results = make();
  results.run(three.work);
  CHECK(calls == 2);
  CHECK(results.cancelled() == 1);
}

TEST_CASE("where a reply is too long for a link each result goes by itself, with its own place") {
  numbered_work four{odd_ones_fail, 4};
  auto results = make();
  results.run(four.work);
  std::vector<std::uint64_t> places;
  std::size_t failed = 0;
  results.write_singly([&](const data_writer& message) {
    const auto reply = parse<reply_view>(*data_view::make(message.bytes()));
    REQUIRE(reply);
    REQUIRE(reply->results.size() == 1);
    const bool refused = reply->places[0].first == 102 && reply->failed.empty();
    if (!refused) {
      places.push_back(reply->places[0].first);
      failed += reply->failed.size();
    }
    return !refused; // too long still
  });
  CHECK(places == std::vector<std::uint64_t>{100, 101, 102, 103});
  CHECK(failed == 3);
}

TEST_CASE("results of slow operations do not wait for each other") {
  numbered_work ten{odd_ones_fail, 10};
  auto results = make(1'000, {1h, 0ns}); // every operation is slow
  for (std::size_t i = 1; i <= 10; ++i) {
    results.run(ten.work);
    CHECK(results.is_due());
    CHECK(results.size() == 1);
    CHECK(ten.work.count == 10 - i);
    results.clear();
  }
}

TEST_CASE("after a long operation there is time to look who has been cancelled") {
  numbered_work ten{odd_ones_fail, 10};
  auto results = make(1'000, {0ns, 1h}); // every operation is long
  for (std::size_t i = 1; i <= 10; ++i) {
    results.run(ten.work);
    CHECK_FALSE(results.is_due());
    CHECK(results.size() == i);
    CHECK(ten.work.count == 10 - i);
  }
}
