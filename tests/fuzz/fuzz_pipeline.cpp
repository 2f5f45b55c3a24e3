// Any bytes as what exchanges and queues say to each other: written as it was read, and whatever it
// says, the accounts of its receiver stay in order.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/check.hpp"
#include "fuzz/ids.hpp"
#include "fuzz/target.hpp"

#include "pattern/pipeline/task_inbox.hpp"
#include "pattern/pipeline/task_messages.hpp"
#include "pattern/pipeline/task_scheduler.hpp"

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

void hear(const queue_report& report, const std::vector<sequence_range>& completed) {
  exchange_options options;
  options.window_tasks = 8;
  task_scheduler scheduler{options};
  const task_scheduler::time now{};
  queue_report hello;
  hello.queue = report.queue;
  hello.credit = 100;
  scheduler.receive(hello, now);
  data_writer value;
  value.write_count(1);
  for (std::uint64_t number = 0; scheduler.has_room(); ++number) {
    scheduler.add({.source = id_of(9), .number = number, .count = 1, .values = value.bytes()});
    scheduler.release();
    while (scheduler.next(now)) {
    }
  }
  scheduler.receive(report, now);
  for (const auto& each : completed)
    scheduler.complete(each);
  while (scheduler.next(now + std::chrono::seconds{2})) {
  }
  scheduler.lose(report.queue);
  const auto& counted = scheduler.counters();
  check(counted.sent == counted.done + counted.dropped + counted.dead + scheduler.in_flight(),
        "every task is done, dropped, dead or in flight");
}

void hear(const tasks_view& tasks, const data_view& value) {
  task_inbox inbox{2};
  const auto msg = make_data_message("t", value.to_data());
  for (int i = 0; i < 2; ++i) // the second time it is known
    inbox.receive(tasks, msg);
  check(inbox.size() <= tasks.values.size(), "no task comes twice");
  while (!inbox.empty()) {
    const auto one = inbox.take();
    inbox.done(task_range{one.from.get(), {one.place, 1}, one.number});
  }
  queue_report report;
  inbox.report_to(tasks.at.exchange, report);
  check(report.taken >= tasks.at.first, "what was taken is reported");
}

/// Writes again what the value says. False if it is none of these messages.
bool rewrite(const data_view& value, data_writer& out) {
  if (const auto report = parse<queue_report>(value)) {
    hear(*report, {});
    write(out, *report);
  } else if (const auto hello = parse<exchange_hello>(value)) {
    write(out, *hello);
  } else if (const auto progress = parse<progress_report>(value)) {
    write(out, *progress);
  } else if (const auto completed = parse<completion>(value)) {
    queue_report nothing;
    nothing.queue = id_of(1);
    hear(nothing, completed->numbers);
    write(out, *completed);
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
  if (const auto tasks = parse<tasks_view>(*value)) {
    hear(*tasks, *value);
    const auto batch = batch_of(*tasks);
    write(again, message_of(tasks->at, batch));
    check(parse<tasks_view>(*data_view::make(again.bytes())).has_value(), "tasks are read again");
  } else if (rewrite(*value, again)) {
    check(data_view::make(again.bytes())->to_data() == value->to_data(),
          "a message is written as it was read");
  }
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input(std::as_bytes(std::span{data, size}));
  return 0;
}
