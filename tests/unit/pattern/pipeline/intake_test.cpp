#include "pattern/pipeline/intake.hpp"
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
  write_tasks(out, {id_of(1), first, settled, urgent}, batch);
  return make_data_message("t", data_view::make(out.bytes())->to_data());
}

void receive(intake& books, const data_message& msg) {
  const auto view = parse_tasks(get_view(msg));
  REQUIRE(view);
  books.receive(*view, msg);
}

/// As a worker would: takes tasks, and says which are done.
class worker {
public:
  explicit worker(intake& books) : books_(books) {}
  void take() {
    auto one = books_.take();
    const auto place = one.place;
    taken_.emplace(place, std::move(one));
  }
  bool done(std::uint64_t place) {
    const auto& one = taken_.at(place);
    return books_.done({one.from.get(), {place, 1}, one.number});
  }

private:
  intake& books_;
  std::map<std::uint64_t, ready_task> taken_;
};

} // namespace

TEST_CASE("tasks come out as they went in, with their places and numbers") {
  intake books{10};
  receive(books, tasks(0, {5, 6, 9}));
  receive(books, tasks(3, {7}, true));
  CHECK(books.size() == 4);
  const std::uint64_t numbers[] = {5, 6, 9, 7};
  for (std::uint64_t place = 0; place < 4; ++place) {
    const auto one = books.take();
    CHECK(one.from->exchange == id_of(1));
    CHECK(one.from->source == id_of(99));
    CHECK(one.place == place);
    CHECK(one.number == numbers[place]);
    CHECK(one.value.as_count() == numbers[place]);
    CHECK(one.from->redelivered == (place == 3));
  }
  CHECK(books.empty());
}

TEST_CASE("a task that comes again is not given out again") {
  intake books{10};
  receive(books, tasks(2, {2, 3}));
  receive(books, tasks(0, {0, 1, 2, 3, 4}));
  receive(books, tasks(2, {2, 3}));
  std::vector<std::uint64_t> places;
  while (!books.empty())
    places.push_back(books.take().place);
  CHECK(places == std::vector<std::uint64_t>{2, 3, 0, 1, 4});
  CHECK(books.size() == 0);
  CHECK(books.report_for(id_of(1)).received == 5);
}

TEST_CASE("an exchange is told of a full batch, and at once where nothing is left to do") {
  intake books{3};
  worker one{books};
  receive(books, tasks(0, {0, 1, 2, 3, 4}));
  for (std::uint64_t place = 0; place < 5; ++place)
    one.take();
  receive(books, tasks(5, {5}));
  CHECK_FALSE(one.done(0));
  CHECK_FALSE(one.done(2));
  CHECK(one.done(1));
  const auto report = books.report_for(id_of(1));
  CHECK(report.done == 3);
  CHECK(report.done_above.empty());
  CHECK_FALSE(one.done(4));
  CHECK(books.report_for(id_of(1)).done_above == std::vector<number_run>{{4, 1}});
  one.take();
  CHECK(one.done(3)); // the last that is here was given out
  CHECK(one.done(5));
  CHECK_FALSE(one.done(5)); // twice is once
  CHECK(books.report_for(id_of(1)).done == 6);
}

TEST_CASE("where tasks are short, more of them are told of together") {
  intake books{1};
  worker one{books};
  books.set_worth_telling(3);
  receive(books, tasks(0, {0, 1, 2, 3, 4}));
  for (std::uint64_t place = 0; place < 3; ++place)
    one.take();
  CHECK_FALSE(one.done(0));
  CHECK_FALSE(one.done(1));
  CHECK(one.done(2));
  books.set_worth_telling(0); // never fewer than asked for
  CHECK(books.report_for(id_of(1)).done == 3);
  one.take();
  CHECK(one.done(3));
}

TEST_CASE("tasks that follow one another are done together, each of them once") {
  intake books{3};
  receive(books, tasks(0, {10, 11, 12, 13, 14}, false, 0, true));
  const auto first = books.take();
  while (!books.empty())
    books.take();
  const auto done = [&](std::uint64_t place, std::uint64_t count) {
    return books.done({first.from.get(), {place, count}, 10 + place});
  };
  CHECK(done(1, 1));
  CHECK(done(0, 4)); // one of them is done already
  CHECK_FALSE(done(0, 4));
  const auto completed = books.take_completed();
  REQUIRE(completed.size() == 1);
  CHECK(completed[0].numbers.size() == 4);
  CHECK(completed[0].numbers.runs() == std::vector<number_run>{{11, 1}, {10, 1}, {12, 2}});
}

TEST_CASE("what is rejected is told until the exchange has settled it") {
  intake books{1};
  worker one{books};
  receive(books, tasks(0, {0, 1}));
  one.take();
  one.take();
  books.reject(id_of(1), 0);
  CHECK(one.done(1));
  for (int i = 0; i < 2; ++i) {
    const auto report = books.report_for(id_of(1));
    CHECK(report.rejected == std::vector<number_run>{{0, 1}});
    CHECK(report.done == 0);
    CHECK(report.done_above == std::vector<number_run>{{1, 1}});
  }
  receive(books, tasks(2, {2}, false, 2));
  const auto report = books.report_for(id_of(1));
  CHECK(report.rejected.empty());
  CHECK(report.done == 2);
}

TEST_CASE("a queue that had taken an exchange for lost goes on where that is") {
  intake books{1};
  receive(books, tasks(7, {7, 8}, false, 7));
  CHECK(books.report_for(id_of(1)).received == 9);
  CHECK(books.report_for(id_of(1)).done == 7);
}

TEST_CASE("what is said of exchanges that are unknown or forgotten means nothing") {
  intake books{1};
  worker one{books};
  CHECK_FALSE(books.done(id_of(1), {0, 1}, false));
  books.reject(id_of(1), 0);
  CHECK(books.exchanges().empty());
  receive(books, tasks(0, {0, 1}));
  one.take();
  CHECK(books.exchanges() == std::vector{id_of(1)});
  books.forget(id_of(1));
  CHECK_FALSE(one.done(0));
  CHECK_FALSE(books.done(id_of(1), {0, 1}, false));
  CHECK(books.exchanges().empty());
}

TEST_CASE(
    "where tasks end, their source is told, and the exchange in between when it waits for it") {
  for (const bool urgent : {false, true}) {
    intake books{2};
    worker one{books};
    receive(books, tasks(0, {10, 11, 12, 20}, false, 0, true, urgent));
    for (int i = 0; i < 3; ++i)
      one.take();
    CHECK_FALSE(one.done(0));
    CHECK(one.done(2));
    const auto completed = books.take_completed();
    REQUIRE(completed.size() == 1);
    CHECK(completed[0].source == id_of(99));
    CHECK(completed[0].numbers.runs() == std::vector<number_run>{{10, 1}, {12, 1}});
    CHECK(books.take_completed().empty());
    CHECK(books.reports_due(id_of(1)) == urgent);
    CHECK(books.report_for(id_of(1)).done_above == std::vector<number_run>{{2, 1}}); // all the same
    CHECK_FALSE(books.reports_due(id_of(1)));
  }
}

TEST_CASE("what its source knows is told to an exchange only if that waits for it") {
  intake books{2};
  receive(books, tasks(0, {0, 1, 2, 3}));
  CHECK_FALSE(books.done(id_of(1), {0, 4}, true));
  CHECK(books.report_for(id_of(1)).done == 4);
  receive(books, tasks(4, {4, 5, 6}, false, 4, true, true));
  CHECK(books.done(id_of(1), {4, 2}, true));
}
