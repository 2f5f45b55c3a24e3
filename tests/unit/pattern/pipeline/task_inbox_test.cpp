// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/pipeline/task_inbox.hpp"
#include "support/ids.hpp"

#include <map>

#include <doctest/doctest.h>

#include <pubsub/data_message.hpp>

using namespace pubsub;
using namespace pubsub::test;
using namespace pubsub::pattern;

namespace {

/// The message an exchange sends: tasks with these numbers at places from `first` on.
data_message tasks(std::uint64_t first, const std::vector<std::uint64_t>& numbers,
                   bool redelivered = false, std::uint64_t settled = 0, bool direct = false,
                   bool urgent = false) {
  task_batch batch;
  batch.source = id_of(99);
  batch.redelivered = redelivered;
  batch.direct = direct;
  for (const auto each : numbers) {
    batch.numbers.append(each);
    batch.values.write_count(each);
  }
  data_writer out;
  write(out, message_of({id_of(1), first, settled, urgent}, batch));
  return make_data_message("t", data_view::make(out.bytes())->to_data());
}

void receive(task_inbox& inbox, const data_message& msg) {
  const auto view = parse<tasks_view>(get_view(msg));
  REQUIRE(view);
  inbox.receive(*view, msg);
}

queue_report report_of(task_inbox& inbox) {
  queue_report result;
  inbox.report_to(id_of(1), result);
  return result;
}

/// As a worker would: takes tasks, and says which are done.
class worker {
public:
  explicit worker(task_inbox& inbox) : inbox_(inbox) {}
  void take() {
    auto one = inbox_.take();
    const auto place = one.place;
    taken_.emplace(place, std::move(one));
  }
  /// Whether the exchange, or the source, should hear of it now.
  bool done(std::uint64_t place) {
    const auto& one = taken_.at(place);
    inbox_.done(task_range{one.from.get(), {place, 1}, one.number});
    return inbox_.report_is_due(id_of(1)) || inbox_.completion_is_due();
  }

private:
  task_inbox& inbox_;
  std::map<std::uint64_t, ready_task> taken_;
};

/// Results of tasks of the exchange 1 are done.
upstream_range results(std::uint64_t first, std::uint64_t count, bool direct) {
  return {nullptr, id_of(1), first, count, direct};
}

const endpoint_id one_source;

struct numbers_in_order {
  std::deque<int> ready;
  reorder<int> all{ready};

  std::deque<int> take_all() { return std::exchange(ready, {}); }
};

} // namespace

TEST_CASE("tasks come out as they went in, with their places and numbers") {
  task_inbox inbox{10};
  receive(inbox, tasks(0, {5, 6, 9}));
  receive(inbox, tasks(3, {7}, true));
  CHECK(inbox.size() == 4);
  const std::uint64_t numbers[] = {5, 6, 9, 7};
  for (std::uint64_t place = 0; place < 4; ++place) {
    const auto one = inbox.take();
    CHECK(one.from->exchange == id_of(1));
    CHECK(one.from->source == id_of(99));
    CHECK(one.place == place);
    CHECK(one.number == numbers[place]);
    CHECK(one.value.as_count() == numbers[place]);
    CHECK(one.from->redelivered == (place == 3));
  }
  CHECK(inbox.empty());
}

TEST_CASE("a task that comes again is not given out again") {
  task_inbox inbox{10};
  receive(inbox, tasks(2, {2, 3}));
  receive(inbox, tasks(0, {0, 1, 2, 3, 4}));
  receive(inbox, tasks(2, {2, 3}));
  std::vector<std::uint64_t> places;
  while (!inbox.empty())
    places.push_back(inbox.take().place);
  CHECK(places == std::vector<std::uint64_t>{2, 3, 0, 1, 4});
  CHECK(inbox.size() == 0);
  CHECK(report_of(inbox).received == 5);
}

TEST_CASE("a report is due for a full batch, and at once where nothing is left to do") {
  task_inbox inbox{3};
  worker one{inbox};
  receive(inbox, tasks(0, {0, 1, 2, 3, 4}));
  for (std::uint64_t place = 0; place < 5; ++place)
    one.take();
  receive(inbox, tasks(5, {5}));
  CHECK_FALSE(one.done(0));
  CHECK_FALSE(one.done(2));
  CHECK(one.done(1));
  const auto report = report_of(inbox);
  CHECK(report.done == 3);
  CHECK(report.done_above.empty());
  CHECK_FALSE(one.done(4));
  CHECK(report_of(inbox).done_above == std::vector<sequence_range>{{4, 1}});
  one.take();
  CHECK(one.done(3)); // the last that is here was given out
  CHECK(one.done(5));
  CHECK(report_of(inbox).done == 6);
}

TEST_CASE("where tasks are short, a report covers more of them") {
  task_inbox inbox{1};
  worker one{inbox};
  inbox.set_worth_reporting(3);
  receive(inbox, tasks(0, {0, 1, 2, 3, 4}));
  for (std::uint64_t place = 0; place < 3; ++place)
    one.take();
  CHECK_FALSE(one.done(0));
  CHECK_FALSE(one.done(1));
  CHECK(one.done(2));
  inbox.set_worth_reporting(0); // never fewer than asked for
  CHECK(report_of(inbox).done == 3);
  one.take();
  CHECK(one.done(3));
}

TEST_CASE("tasks that follow one another are done together") {
  task_inbox inbox{3};
  receive(inbox, tasks(0, {10, 11, 12, 13, 14}, false, 0, true));
  const auto first = inbox.take();
  while (!inbox.empty())
    inbox.take();
  inbox.done(task_range{first.from.get(), {1, 1}, 11});
  inbox.done(task_range{first.from.get(), {2, 3}, 12});
  CHECK(inbox.completion_is_due());
  const auto completed = inbox.take_completed();
  REQUIRE(completed.size() == 1);
  CHECK(completed.begin()->second.runs() == std::vector<sequence_range>{{11, 4}});
  CHECK(report_of(inbox).done_above == std::vector<sequence_range>{{1, 4}});
}

TEST_CASE("a task that another queue has had is acknowledged at once") {
  task_inbox inbox{10};
  receive(inbox, tasks(0, {0, 1}, true));
  const auto one = inbox.take();
  inbox.done(task_range{one.from.get(), {0, 1}, 0});
  CHECK_FALSE(inbox.report_is_due(id_of(1)));
  CHECK(inbox.report_is_due(id_of(1), true));
}

TEST_CASE("what is rejected is reported until the exchange has settled it") {
  task_inbox inbox{1};
  worker one{inbox};
  receive(inbox, tasks(0, {0, 1}));
  one.take();
  one.take();
  inbox.reject(id_of(1), 0);
  CHECK(one.done(1));
  for (int i = 0; i < 2; ++i) {
    const auto report = report_of(inbox);
    CHECK(report.rejected == std::vector<sequence_range>{{0, 1}});
    CHECK(report.done == 0);
    CHECK(report.done_above == std::vector<sequence_range>{{1, 1}});
  }
  receive(inbox, tasks(2, {2}, false, 2));
  const auto report = report_of(inbox);
  CHECK(report.rejected.empty());
  CHECK(report.done == 2);
}

TEST_CASE("a queue that had taken an exchange for lost goes on where that is") {
  task_inbox inbox{1};
  receive(inbox, tasks(7, {7, 8}, false, 7));
  CHECK(report_of(inbox).received == 9);
  CHECK(report_of(inbox).done == 7);
}

TEST_CASE("tasks of exchanges that are unknown or forgotten are not reported") {
  task_inbox inbox{1};
  worker one{inbox};
  inbox.done(results(0, 1, false));
  inbox.reject(id_of(1), 0);
  CHECK(inbox.exchanges().empty());
  receive(inbox, tasks(0, {0, 1}));
  one.take();
  CHECK(inbox.exchanges().contains(id_of(1)));
  inbox.forget(id_of(1));
  CHECK_FALSE(one.done(0));
  inbox.done(results(0, 1, false));
  CHECK(inbox.exchanges().empty());
}

TEST_CASE(
    "where tasks end, their source hears of it, and the exchange in between if it waits for it") {
  for (const bool urgent : {false, true}) {
    task_inbox inbox{2};
    worker one{inbox};
    receive(inbox, tasks(0, {10, 11, 12, 20}, false, 0, true, urgent));
    for (int i = 0; i < 3; ++i)
      one.take();
    CHECK_FALSE(one.done(0));
    CHECK(one.done(2));
    const auto completed = inbox.take_completed();
    REQUIRE(completed.size() == 1);
    CHECK(completed.begin()->first == id_of(99));
    CHECK(completed.begin()->second.runs() == std::vector<sequence_range>{{10, 1}, {12, 1}});
    CHECK(inbox.take_completed().empty());
    CHECK(inbox.report_is_due(id_of(1)) == urgent);
    CHECK(report_of(inbox).done_above == std::vector<sequence_range>{{2, 1}}); // all the same
    CHECK_FALSE(inbox.report_is_due(id_of(1)));
  }
}

TEST_CASE("what a source knows is reported to an exchange only if that waits for it") {
  task_inbox inbox{2};
  receive(inbox, tasks(0, {0, 1, 2, 3}));
  inbox.done(results(0, 4, true));
  CHECK_FALSE(inbox.report_is_due(id_of(1)));
  CHECK(report_of(inbox).done == 4);
  receive(inbox, tasks(4, {4, 5, 6}, false, 4, true, true));
  inbox.done(results(4, 2, true));
  CHECK(inbox.report_is_due(id_of(1)));
}

// -- order ----------------------------------------------------------------------------------------

TEST_CASE("what comes early waits for what is before it") {
  numbers_in_order x;
  x.all.settle(one_source, 0);
  x.all.put(one_source, 2, 2);
  x.all.put(one_source, 1, 1);
  CHECK(x.ready.empty());
  x.all.put(one_source, 0, 0);
  CHECK(x.take_all() == std::deque{0, 1, 2});
}

TEST_CASE("nothing is given out before it is known where a source begins") {
  numbers_in_order x;
  x.all.put(one_source, 6, 6);
  x.all.put(one_source, 5, 5);
  CHECK(x.ready.empty());
  x.all.settle(one_source, 5);
  CHECK(x.take_all() == std::deque{5, 6});
}

TEST_CASE("what will never come is not waited for") {
  numbers_in_order x;
  x.all.settle(one_source, 0);
  x.all.put(one_source, 3, 3);
  x.all.put(one_source, 5, 5);
  x.all.settle(one_source, 2);
  CHECK(x.ready.empty());
  x.all.settle(one_source, 3);
  CHECK(x.take_all() == std::deque{3});
  x.all.settle(one_source, 100);
  CHECK(x.take_all() == std::deque{5});
}

TEST_CASE("what comes again is given out at once") {
  numbers_in_order x;
  x.all.settle(one_source, 0);
  x.all.put(one_source, 0, 0);
  x.all.put(one_source, 2, 2);
  x.all.put(one_source, 2, 22);
  x.all.put(one_source, 0, 10);
  CHECK(x.take_all() == std::deque{0, 22, 10});
}

TEST_CASE("sources do not wait for one another") {
  const auto other = endpoint_id::random();
  numbers_in_order x;
  x.all.settle(one_source, 0);
  x.all.settle(other, 0);
  x.all.put(one_source, 1, 1);
  x.all.put(other, 0, 10);
  CHECK(x.take_all() == std::deque{10});
}
