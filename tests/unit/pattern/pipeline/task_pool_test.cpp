// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/pipeline/task_pool.hpp"
#include "support/ids.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <random>

using namespace pubsub;
using namespace pubsub::test;
using namespace pubsub::pattern;

namespace {

/// Tasks of this exchange, from this place on.
upstream_range from(std::uint8_t exchange, std::uint64_t place, std::uint64_t count = 1) {
  return {nullptr, id_of(exchange), place, count, true};
}

void add(task_pool& pool, std::uint64_t number, std::uint8_t source = 1,
         upstream_range upstream = {}) {
  data_writer value;
  value.write_count(number);
  pool.add({.source = id_of(source),
            .number = number,
            .count = 1,
            .values = value.bytes(),
            .upstream = upstream});
}

/// The numbers of a batch; what they came with must be the same.
std::vector<std::uint64_t> numbers_of(const tracked_batch& batch) {
  std::vector<std::uint64_t> result;
  auto values = batch.tasks.values.bytes();
  for (const auto& run : batch.tasks.numbers.runs())
    for (std::uint64_t i = 0; i < run.count; ++i) {
      const auto value = data_view::from_valid(values);
      CHECK(value.as_count() == run.first + i);
      values = values.subspan(value.bytes().size());
      result.push_back(run.first + i);
    }
  CHECK(values.empty());
  return result;
}

} // namespace

TEST_CASE("tasks wait for a full batch until they are released") {
  task_pool pool;
  CHECK(pool.ready(1) == 0);
  for (std::uint64_t number = 0; number < 3; ++number)
    add(pool, number);
  CHECK(pool.ready(4) == 0);
  CHECK(pool.ready(3) == 3);
  CHECK(pool.ready(2) == 2);
  pool.release();
  CHECK(pool.ready(4) == 3);
  CHECK(numbers_of(pool.cut(2)) == std::vector<std::uint64_t>{0, 1});
  add(pool, 3);
  CHECK(pool.ready(4) == 2); // the first of them is
  CHECK(numbers_of(pool.cut(2)) == std::vector<std::uint64_t>{2, 3});
  add(pool, 4);
  CHECK(pool.ready(4) == 0);
  CHECK(pool.size() == 1);
}

TEST_CASE("tasks that come together are cut wherever it suits") {
  task_pool pool;
  for (std::uint64_t first = 10; first < 22; first += 3) {
    data_writer values;
    for (auto number = first; number < first + 3; ++number)
      values.write_count(number);
    pool.add({.source = id_of(1),
              .number = first,
              .count = 3,
              .values = values.bytes(),
              .upstream = from(7, 2 * first, 3)});
  }
  CHECK(pool.ready(4) == 4);
  const auto some = pool.cut(4);
  CHECK(numbers_of(some) == std::vector<std::uint64_t>{10, 11, 12, 13});
  REQUIRE(some.upstream.size() == 2);
  CHECK(some.upstream[0].first == 20);
  CHECK(some.upstream[0].count == 3);
  CHECK(some.upstream[1].first == 26);
  CHECK(some.upstream[1].count == 1);
  CHECK(numbers_of(pool.cut(8)).size() == 8);
  CHECK(pool.size() == 0);
}

TEST_CASE("only tasks of a kind travel together") {
  task_pool pool;
  add(pool, 0, 1, from(7, 5));
  add(pool, 1, 1, from(7, 6));
  add(pool, 2, 1, from(8, 0));
  add(pool, 3, 1);
  add(pool, 4, 2);
  CHECK(pool.ready(10) == 2);
  const auto first = pool.cut(2);
  CHECK(first.tasks.source == id_of(1));
  REQUIRE(first.upstream.size() == 1);
  CHECK(first.upstream[0].exchange == id_of(7));
  CHECK(first.upstream[0].first == 5);
  CHECK(first.upstream[0].count == 2);
  CHECK(first.upstream[0].direct);
  CHECK(pool.ready(10) == 1);
  CHECK(pool.cut(1).upstream[0].exchange == id_of(8));
  CHECK(pool.ready(10) == 1);
  CHECK(pool.cut(1).upstream.empty());
  CHECK(pool.ready(10) == 0); // others may come yet
  CHECK(pool.ready(1) == 1);
}

TEST_CASE("what goes into a pool comes out of it in order, whatever is cut") {
  std::mt19937 engine{3};
  task_pool pool;
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  while (out < 50'000) {
    for (auto n = engine() % 3'000; n > 0; --n, ++in)
      add(pool, in, static_cast<std::uint8_t>(in / 10'000));
    if (engine() % 3 == 0)
      pool.release();
    const auto wanted = 1 + engine() % 5'000;
    while (const auto n = pool.ready(wanted)) {
      CHECK(n <= wanted);
      for (const auto number : numbers_of(pool.cut(n)))
        CHECK(number == out++);
    }
    CHECK(pool.size() == in - out);
  }
}
