// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/pipeline/task_messages.hpp"

#include "support/written.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace pubsub;
using namespace pubsub::pattern;
using namespace pubsub::test;

TEST_CASE("messages of pipelines are read as they were written") {
  const auto exchange = endpoint_id::random();
  const auto source = endpoint_id::random();
  task_batch batch;
  batch.source = source;
  batch.redelivered = true;
  batch.direct = true;
  for (const std::uint64_t number : {4, 5, 9}) {
    batch.numbers.append(number);
    batch.values.write_count(number);
  }
  data_writer out;
  write(out, message_of({exchange, 17, 3, true}, batch));
  const auto tasks = parse<tasks_view>(view_of(out));
  REQUIRE(tasks);
  CHECK(tasks->at.exchange == exchange);
  CHECK(tasks->source == source);
  CHECK(tasks->at.first == 17);
  CHECK(tasks->at.settled == 3);
  CHECK(tasks->at.urgent);
  CHECK(tasks->redelivered);
  CHECK(tasks->direct);
  CHECK(tasks->numbers == std::vector<sequence_range>{{4, 2}, {9, 1}});
  CHECK(tasks->values.size() == 3);

  queue_report report;
  report.queue = source;
  report.credit = 10;
  report.concurrency = 2;
  report.received = 8;
  report.taken = 7;
  report.timed = 12;
  report.busy_ns = 1'000'000;
  report.done = 5;
  report.done_above = {{6, 1}, {9, 3}};
  report.rejected = {{5, 1}};
  out.clear();
  write(out, report);
  const auto again = parse<queue_report>(view_of(out));
  REQUIRE(again);
  CHECK(again->queue == source);
  CHECK(again->credit == 10);
  CHECK(again->concurrency == 2);
  CHECK(again->received == 8);
  CHECK(again->taken == 7);
  CHECK(again->timed == 12);
  CHECK(again->busy_ns == 1'000'000);
  CHECK(again->done == 5);
  CHECK(again->done_above == report.done_above);
  CHECK(again->rejected == report.rejected);

  out.clear();
  write(out, exchange_hello{exchange, 5});
  const auto hello = parse<exchange_hello>(view_of(out));
  REQUIRE(hello);
  CHECK(hello->exchange == exchange);
  CHECK(hello->age_ns == 5);
  CHECK_FALSE(parse<queue_report>(view_of(out)));
  CHECK_FALSE(parse<tasks_view>(view_of(out)));

  out.clear();
  write(out, progress_report{source, 99});
  const auto progress = parse<progress_report>(view_of(out));
  REQUIRE(progress);
  CHECK(progress->source == source);
  CHECK(progress->below == 99);

  out.clear();
  write(out, completion{5, {{7, 2}, {12, 1}}});
  const auto completed = parse<completion>(view_of(out));
  REQUIRE(completed);
  CHECK(completed->secret == 5);
  CHECK(completed->numbers == std::vector<sequence_range>{{7, 2}, {12, 1}});
  CHECK_FALSE(parse<progress_report>(view_of(out)));
}

TEST_CASE("what others say on these topics is none of our messages") {
  const data id{std::string(16, 'x')};
  const data none_of_ours[] = {
      data{},
      data{count{1}},
      data{vector{}},
      data{vector{count{4}, id}},
      data{vector{count{3}}},
      data{vector{count{5}}},
      data{vector{count{5}, vector{count{0}}}},
      data{vector{count{5}, vector{count{0}, count{0}}}},
      data{vector{count{5}, vector{~count{0}, count{2}}}},
      data{vector{count{3}, std::string(15, 'x'), count{0}}},
      data{vector{count{3}, id}},
      data{vector{count{3}, id, count{0}, count{0}}},
      data{vector{count{1}, id, count{0}, count{0}, false, false, false, id, vector{},
                  vector{count{1}}}},
      data{vector{count{1}, id, count{0}, count{0}, false, false, false, id, vector{count{0}},
                  vector{}}},
      data{vector{count{1}, id, ~count{0}, count{0}, false, false, false, id,
                  vector{count{0}, count{1}}, vector{count{1}}}},
      data{vector{count{2}, id, count{0}, count{0}, count{0}, count{0}, vector{~count{0}, count{2}},
                  vector{}}},
  };
  for (const auto& each : none_of_ours) {
    data_writer out;
    out.write(each);
    CHECK_FALSE(parse<tasks_view>(view_of(out)));
    CHECK_FALSE(parse<queue_report>(view_of(out)));
    CHECK_FALSE(parse<exchange_hello>(view_of(out)));
    CHECK_FALSE(parse<completion>(view_of(out)));
  }
}
