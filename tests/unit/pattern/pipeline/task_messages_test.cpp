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
  write_tasks(out, {exchange, 17, 3, true}, batch);
  CHECK(kind_of(view_of(out)) == message_kind::tasks);
  const auto tasks = parse_tasks(view_of(out));
  REQUIRE(tasks);
  CHECK(tasks->exchange == exchange);
  CHECK(tasks->source == source);
  CHECK(tasks->first == 17);
  CHECK(tasks->settled == 3);
  CHECK(tasks->urgent);
  CHECK(tasks->redelivered);
  CHECK(tasks->direct);
  CHECK(tasks->numbers == std::vector<number_run>{{4, 2}, {9, 1}});
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
  write_report(out, report);
  CHECK(kind_of(view_of(out)) == message_kind::report);
  const auto again = parse_report(view_of(out));
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
  write_invitation(out, {exchange});
  const auto invited = parse_invitation(view_of(out));
  REQUIRE(invited);
  CHECK(invited->exchange == exchange);
  CHECK_FALSE(parse_report(view_of(out)));
  CHECK_FALSE(parse_tasks(view_of(out)));

  out.clear();
  write_progress(out, {source, 99});
  CHECK(kind_of(view_of(out)) == message_kind::progress);
  const auto progress = parse_progress(view_of(out));
  REQUIRE(progress);
  CHECK(progress->source == source);
  CHECK(progress->below == 99);

  out.clear();
  write_completion(out, {{{7, 2}, {12, 1}}});
  CHECK(kind_of(view_of(out)) == message_kind::completion);
  const auto completed = parse_completion(view_of(out));
  REQUIRE(completed);
  CHECK(completed->numbers == std::vector<number_run>{{7, 2}, {12, 1}});
  CHECK_FALSE(parse_progress(view_of(out)));

  out.clear();
  write_claim(out, {exchange, 5});
  const auto claimed = parse_claim(view_of(out));
  REQUIRE(claimed);
  CHECK(claimed->exchange == exchange);
  CHECK(claimed->age_ns == 5);
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
      data{vector{count{3}, std::string(15, 'x')}},
      data{vector{count{3}, id, count{0}}},
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
    CHECK_FALSE(parse_tasks(view_of(out)));
    CHECK_FALSE(parse_report(view_of(out)));
    CHECK_FALSE(parse_invitation(view_of(out)));
    CHECK_FALSE(parse_completion(view_of(out)));
  }
}
