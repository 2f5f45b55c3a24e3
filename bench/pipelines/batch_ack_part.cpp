// The processes of a pipeline that is measured. They report to the parent on stdout, one line each:
//   port N          what they listen on
//   ready           the next process may start
//   done key=value  the end of the work
// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "kit/child_report.hpp"
#include "kit/process_usage.hpp"
#include "station.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <pubsub/data_writer.hpp>
#include <pubsub/pattern/pipeline.hpp>

namespace pubsub::tool {

namespace bench {

namespace {

constexpr const char* tasks_name = "bench/tasks";
constexpr const char* results_name = "bench/results";
constexpr std::chrono::seconds patience{20};
constexpr std::size_t handful = 256;     // tasks that go through a call together
constexpr std::chrono::hours forever{1}; // the parent ends this process before

struct part_options {
  std::string part;
  connection_options connection;
  std::size_t tasks = 0;
  std::size_t batch = 1;
  std::size_t window = exchange_options{}.window_tasks;
  bool one_batch = false;
  unsigned workers = 1;
  double wait_ms = 0;
  balancing balance = balancing::least_outstanding;
};

task_queue_options queue_of(const part_options& options) {
  task_queue_options result;
  result.batch_tasks = options.batch;
  return result;
}

/// While it lives, the queue is closed as soon as the parent closes our stdin.
class close_on_request {
public:
  explicit close_on_request(task_queue& queue)
      : watcher_([&queue] {
          wait_for_parent();
          queue.close();
        }) {}
  close_on_request(const close_on_request&) = delete;
  close_on_request& operator=(const close_on_request&) = delete;
  ~close_on_request() { watcher_.join(); }

private:
  std::thread watcher_;
};

/// Sends tasks with these numbers, a handful at a time.
expected<void> send_numbers(exchange& out, std::size_t first, std::size_t end) {
  data_writer tasks;
  while (first < end) {
    tasks.clear();
    for (const auto until = std::min(first + handful, end); first < until; ++first)
      tasks.write_count(first);
    if (auto sent = out.send_batch(tasks.bytes()); !sent)
      return sent;
  }
  return {};
}

/// Sends all tasks and waits until they are acknowledged: all together, or batch by batch.
exit_code send_all(exchange& out, const part_options& options) {
  const auto pause_every = options.one_batch ? options.batch : options.tasks;
  for (std::size_t first = 0; first < options.tasks; first += pause_every) {
    if (auto sent = send_numbers(out, first, std::min(first + pause_every, options.tasks)); !sent)
      return fail(sent.error());
    if (out.drain(forever) > 0)
      return exit_code::timeout;
  }
  return exit_code::ok;
}

exit_code ventilate(const part_options& options) {
  station here{options.connection};
  if (here.outcome() != exit_code::ok)
    return here.outcome();
  exchange_options settings;
  settings.window_tasks = options.window;
  settings.balance = options.balance;
  auto out = exchange::open(here.ep(), tasks_name, settings);
  if (!out)
    return fail(out.error());
  if (!out->wait_for_queues(options.workers, patience))
    return fail({errc::request_timeout, "workers did not come in time"});
  const auto begin = clock::now();
  const auto sent = send_all(*out, options);
  const auto seconds = std::chrono::duration<double>(clock::now() - begin).count();
  if (sent != exit_code::ok)
    return sent;
  const auto counted = out->counters();
  report_line("done",
              fmt::format("seconds={:.6f} sent={} in_flight_max={} redelivered={} messages={} "
                          "bytes={}",
                          seconds, counted.done, counted.in_flight_max, counted.redelivered,
                          counted.batches, peak_resident_bytes()));
  return exit_code::ok;
}

exit_code work(const part_options& options) {
  station here{options.connection};
  if (here.outcome() != exit_code::ok)
    return here.outcome();
  auto in = task_queue::open(here.ep(), "", queue_of(options));
  if (!in)
    return fail(in.error());
  in->bind(tasks_name);
  auto out = exchange::open(here.ep(), "");
  if (!out)
    return fail(out.error());
  out->bind(results_name);
  if (!out->wait_for_queues(1, patience))
    return fail({errc::request_timeout, "the sink did not come in time"});
  report_line("ready");
  close_on_request closing{*in};
  const std::chrono::duration<double, std::milli> wait{options.wait_ms};
  std::size_t done = 0;
  clock::duration busy{0};
  data_writer results;
  const auto at_once = options.wait_ms > 0 ? 1 : handful;
  while (auto tasks = in->get_batch(at_once)) {
    if (options.wait_ms > 0) {
      const auto begin = clock::now();
      here.pause(wait);
      busy += clock::now() - begin;
    }
    done += tasks->size();
    results.clear();
    for (const auto& each : *tasks)
      results.write_encoded(each.value().bytes());
    if (!out->send_batch(results.bytes(), *std::move(tasks)))
      break;
  }
  report_line("done",
              fmt::format("tasks={} busy={:.6f} bytes={}", done,
                          std::chrono::duration<double>(busy).count(), peak_resident_bytes()));
  return exit_code::ok;
}

exit_code collect(const part_options& options) {
  station here{options.connection};
  if (here.outcome() != exit_code::ok)
    return here.outcome();
  auto in = task_queue::open(here.ep(), results_name, queue_of(options));
  if (!in)
    return fail(in.error());
  report_line("ready");
  close_on_request closing{*in};
  std::vector<bool> seen(options.tasks);
  std::size_t delivered = 0;
  std::size_t unexpected = 0;
  while (auto tasks = in->get_batch(handful)) {
    for (const auto& each : *tasks) {
      const bool expected = each.value().type() == data_type::count &&
                            each.value().as_count() < seen.size() && !seen[each.value().as_count()];
      ++(expected ? delivered : unexpected);
      if (expected)
        seen[each.value().as_count()] = true;
    }
    task::done(*std::move(tasks));
  }
  report_line("done", fmt::format("delivered={} unexpected={} bytes={}", delivered, unexpected,
                                  peak_resident_bytes()));
  return exit_code::ok;
}

exit_code run_part(const part_options& options) {
  if (options.part == "ventilator")
    return ventilate(options);
  return options.part == "worker" ? work(options) : collect(options);
}

} // namespace

} // namespace bench

void add_bench_batch_ack_part(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::part_options>();
  auto* const command =
      app.add_subcommand("batch-ack-part", "One process of a pipeline (started by batch-ack)");
  command->group(""); // not shown
  add_connection_options(*command, options->connection);
  command->add_option("--part", options->part)
      ->required()
      ->check(CLI::IsMember({"ventilator", "worker", "sink"}));
  command->add_option("--tasks", options->tasks);
  command->add_option("--batch", options->batch);
  command->add_option("--window", options->window);
  command->add_flag("--one-batch", options->one_batch);
  command->add_option("--workers", options->workers);
  command->add_option("--wait", options->wait_ms);
  command->add_flag_callback("--round-robin",
                             [options] { options->balance = balancing::round_robin; });
  command->callback([options, &outcome] { outcome = bench::run_part(*options); });
}

} // namespace pubsub::tool
