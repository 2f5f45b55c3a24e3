// Any bytes as what exchanges and queues say to each other: written as it was read, and whatever it
// says, the books of who hears it stay in order.
#include "fuzz/check.hpp"
#include "fuzz/ids.hpp"
#include "fuzz/target.hpp"

#include "pattern/pipeline/dispatch.hpp"
#include "pattern/pipeline/intake.hpp"
#include "pattern/pipeline/task_messages.hpp"

namespace pubsub::fuzz {

namespace {

using namespace pattern;

task_batch batch_of(const tasks_view& tasks) {
  task_batch result;
  result.source = tasks.source;
  result.redelivered = tasks.redelivered;
  result.direct = tasks.direct;
  for (const auto& run : tasks.numbers)
    for (std::uint64_t i = 0; i < run.count; ++i)
      result.numbers.append(run.first + i);
  for (const auto& value : tasks.values.elements())
    result.values.write_encoded(value.bytes());
  return result;
}

void hear(const queue_report& report, const std::vector<number_run>& completed) {
  exchange_options options;
  options.window_tasks = 8;
  dispatch books{options};
  const dispatch::time now{};
  queue_report hello;
  hello.queue = report.queue;
  hello.credit = 100;
  books.receive(hello, now);
  data_writer value;
  value.write_count(1);
  for (std::uint64_t number = 0; books.has_room(); ++number) {
    const std::size_t end = value.size_bytes();
    books.add({.source = id_of(9), .number = number, .values = value.bytes(), .ends = {&end, 1}});
    books.flush();
    while (books.next(now)) {
    }
  }
  books.receive(report, now);
  for (const auto& each : completed)
    books.complete(each);
  while (books.next(now + std::chrono::seconds{2})) {
  }
  books.lose(report.queue);
  const auto& counted = books.counters();
  check(counted.sent == counted.done + counted.dropped + counted.dead + books.in_flight(),
        "every task is done, dropped, dead or in flight");
}

void hear(const tasks_view& tasks, const data_view& value) {
  intake books{2};
  const auto msg = make_data_message("t", value.to_data());
  for (int i = 0; i < 2; ++i) // the second time it is known
    books.receive(tasks, msg);
  check(books.size() <= tasks.values.size(), "no task comes twice");
  while (!books.empty()) {
    const auto one = books.take();
    books.done({one.from.get(), {one.place, 1}, one.number});
  }
  const auto report = books.report_for(tasks.exchange);
  check(report.taken >= tasks.first, "what was taken is told");
}

/// Writes again what the value says. False if it is none of these messages.
bool rewrite(const data_view& value, data_writer& out) {
  if (const auto report = parse_report(value)) {
    hear(*report, {});
    write_report(out, *report);
  } else if (const auto invited = parse_invitation(value)) {
    write_invitation(out, *invited);
  } else if (const auto progress = parse_progress(value)) {
    write_progress(out, *progress);
  } else if (const auto completed = parse_completion(value)) {
    queue_report nothing;
    nothing.queue = id_of(1);
    hear(nothing, completed->numbers);
    write_completion(out, *completed);
  } else if (const auto claimed = parse_claim(value)) {
    write_claim(out, *claimed);
  } else {
    return false;
  }
  return true;
}

void try_input(std::span<const std::byte> bytes) {
  const auto value = data_view::make(bytes);
  if (!value)
    return;
  data_writer again;
  if (const auto tasks = parse_tasks(*value)) {
    hear(*tasks, *value);
    write_tasks(again, {tasks->exchange, tasks->first, tasks->settled, tasks->urgent},
                batch_of(*tasks));
    check(parse_tasks(*data_view::make(again.bytes())).has_value(), "tasks are read again");
  } else if (rewrite(*value, again)) {
    check(data_view::make(again.bytes())->to_data() == value->to_data(),
          "a message is written as it was read");
  } else {
    return;
  }
  check(kind_of(*value).has_value(), "it has a kind");
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input(std::as_bytes(std::span{data, size}));
  return 0;
}
