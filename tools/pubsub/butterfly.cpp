// The roles of the butterfly example, one process each.
// SPDX-License-Identifier: BSD-3-Clause
#include "commands.hpp"

#include "station.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include <fmt/format.h>

#include <pubsub/data_writer.hpp>
#include <pubsub/pattern/pipeline.hpp>

namespace pubsub::tool {

namespace {

// Names as in the article; workers bind themselves to those of the others.
constexpr const char* requests_out = "SEND_REQUESTS_OUT";
constexpr const char* intermediate_in = "INTERMEDIATE_IN";
constexpr const char* intermediate_out = "INTERMEDIATE_OUT";
constexpr const char* replies_in = "RECEIVE_REPLIES_IN";
constexpr std::size_t request_bytes = 100;
constexpr std::chrono::milliseconds look_up{200}; // whether to stop

struct butterfly_options {
  connection_options connection;
  std::size_t transactions = 60;
  std::size_t workers = 1;
  double wait_ms = 0;
};

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

exit_code send_requests(const butterfly_options& options) {
  station here{options.connection};
  if (here.outcome() != exit_code::ok)
    return here.outcome();
  auto out = exchange::open(here.ep(), requests_out);
  if (!out)
    return fail(out.error());
  report_line("waiting", fmt::format("for {} of component1", options.workers));
  while (!out->wait_for_queues(options.workers, look_up))
    if (here.stopped())
      return exit_code::usage;
  data_writer request;
  request.write_string(std::string(request_bytes, 'x'));
  const auto begin = clock::now();
  for (std::size_t i = 0; i < options.transactions; ++i)
    while (auto failed = out->send_for(request.bytes(), look_up).error()) {
      if (failed != errc::request_timeout)
        return fail(failed);
      if (here.stopped())
        return exit_code::usage;
    }
  const auto sent = seconds_since(begin);
  while (out->drain(look_up) > 0)
    if (here.stopped())
      return exit_code::usage;
  const auto seconds = seconds_since(begin);
  const auto counted = out->counters();
  report_line("done", fmt::format("transactions={} seconds={:.6f} sending={:.6f} "
                                  "redelivered={} throughput={:.4f}",
                                  options.transactions, seconds, sent, counted.redelivered,
                                  static_cast<double>(options.transactions) / seconds));
  return exit_code::ok;
}

/// What a component has done, and how long the parts of it took.
struct work_done {
  std::size_t tasks = 0;
  std::size_t at_once = 0; ///< tasks that were there when they were wanted
  double input = 0;        ///< seconds, of those
  double output = 0;

  std::string text() const {
    return fmt::format("tasks={} input_us={:.3f} output_us={:.3f}", tasks,
                       1e6 * input / static_cast<double>(std::max<std::size_t>(at_once, 1)),
                       1e6 * output / static_cast<double>(std::max<std::size_t>(tasks, 1)));
  }
};

/// Takes tasks from `in`, works on them for a while, and hands on results until it is told to end.
work_done work(station& here, task_queue& in, exchange& out, double wait_ms) {
  const std::chrono::duration<double, std::milli> wait{wait_ms};
  work_done result;
  while (!here.stopped() && !in.closed()) {
    const bool there = in.available() > 0;
    auto begin = clock::now();
    auto task = in.get_for(look_up);
    if (!task)
      continue;
    result.at_once += there ? 1 : 0;
    result.input += there ? seconds_since(begin) : 0;
    if (!here.pause(wait))
      break; // another gets the task
    const auto value = task->value().bytes();
    begin = clock::now();
    if (!out.send(value, std::move(*task)))
      break;
    result.output += seconds_since(begin);
    ++result.tasks;
  }
  return result;
}

exit_code component(const butterfly_options& options, const char* from, const char* to) {
  station here{options.connection};
  if (here.outcome() != exit_code::ok)
    return here.outcome();
  auto in = task_queue::open(here.ep(), "");
  auto out = exchange::open(here.ep(), "");
  if (!in || !out)
    return fail(in ? out.error() : in.error());
  in->bind(from);
  out->bind(to);
  report_line("ready");
  report_line("done", work(here, *in, *out, options.wait_ms).text());
  return exit_code::ok;
}

exit_code component1(const butterfly_options& options) {
  return component(options, requests_out, intermediate_in);
}

exit_code component2(const butterfly_options& options) {
  return component(options, intermediate_out, replies_in);
}

exit_code intermediate(const butterfly_options& options) {
  station here{options.connection};
  if (here.outcome() != exit_code::ok)
    return here.outcome();
  auto in = task_queue::open(here.ep(), intermediate_in);
  auto out = exchange::open(here.ep(), intermediate_out);
  if (!in || !out)
    return fail(in ? out.error() : in.error());
  report_line("ready");
  report_line("done", work(here, *in, *out, 0).text());
  return exit_code::ok;
}

exit_code receive_replies(const butterfly_options& options) {
  station here{options.connection};
  if (here.outcome() != exit_code::ok)
    return here.outcome();
  task_queue_options each_at_once;
  each_at_once.batch_tasks = 1;
  auto in = task_queue::open(here.ep(), replies_in, each_at_once);
  if (!in)
    return fail(in.error());
  report_line("ready");
  std::size_t received = 0;
  while (!here.stopped() && !in->closed())
    if (auto task = in->get_for(look_up)) {
      ++received;
      task->done();
    }
  report_line("received", std::to_string(received));
  return exit_code::ok;
}

constexpr const char* butterfly_examples =
    R"(Examples, each line a process, on as many hosts as you like:
  pubsub butterfly intermediate --listen '*:9999'
  pubsub butterfly component1 --peer HOST:9999 --wait 500        as many as you like
  pubsub butterfly component2 --peer HOST:9999 --wait 500        as many as you like
  pubsub butterfly receive-replies --peer HOST:9999
  pubsub butterfly send-requests --peer HOST:9999 --transactions 60
Requests of 100 bytes pass component1, intermediate, component2; each component waits instead of
working. They find each other by name, in any order of starting. `pubsub bench butterfly` starts all
of them here.)";

using role = exit_code (*)(const butterfly_options&);

void add_role(CLI::App& app, const char* name, const char* what, role run, exit_code& outcome) {
  auto options = std::make_shared<butterfly_options>();
  auto* const command = app.add_subcommand(name, what);
  add_connection_options(*command, options->connection);
  if (run == &send_requests) {
    command->add_option("--transactions", options->transactions, "Requests to send")
        ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 40))
        ->capture_default_str();
    command->add_option("--workers", options->workers, "Begin when so many component1 are there")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
  }
  if (run == &component1 || run == &component2)
    command->add_option("--wait", options->wait_ms, "Milliseconds to wait for each transaction")
        ->check(CLI::Range(0.0, 1e9))
        ->capture_default_str();
  command->callback([options, run, &outcome] { outcome = run(*options); });
}

} // namespace

void add_butterfly(CLI::App& app, exit_code& outcome) {
  auto* const command = app.add_subcommand(
      "butterfly", "The butterfly example: a pipeline with workers side by side");
  command->require_subcommand(1);
  command->footer(butterfly_examples);
  add_role(*command, "send-requests", "Send requests, and say how long it took until all were done",
           &send_requests, outcome);
  add_role(*command, "component1", "The first stage; any number of them", &component1, outcome);
  add_role(*command, "intermediate", "Between the stages", &intermediate, outcome);
  add_role(*command, "component2", "The second stage; any number of them", &component2, outcome);
  add_role(*command, "receive-replies", "Take the replies", &receive_replies, outcome);
}

} // namespace pubsub::tool
