// SPDX-License-Identifier: BSD-3-Clause
#include "pipelines/batch_ack_run.hpp"

#include "kit/child_process.hpp"
#include "kit/child_report.hpp"
#include "kit/report_members.hpp"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

namespace pubsub::tool::bench {

namespace {

using state = compare_sample::state;
using named_values = std::map<std::string, double>;

constexpr double slowest_rate = 2000; // tasks per second; a pipeline below that is given up

struct run_failure : std::runtime_error {
  run_failure(state what, const std::string& why) : std::runtime_error(why), status(what) {}
  state status;
};

double limit_s(const pipeline_setting& setting) {
  const auto waits = setting.wait_ms.empty() ? 0 : *std::ranges::max_element(setting.wait_ms);
  const auto tasks = static_cast<double>(setting.tasks);
  return 2 * start_limit_s + tasks / slowest_rate + tasks * waits / 1000;
}

// Each is linked with each that it sends to: tasks go from the ventilator to workers, results from
// there to the sink, acknowledgements from the sink to the ventilator. Who is dialed is started
// first.
class own_pipeline {
public:
  own_pipeline(const pipeline_setting& setting, balancing balance, const stop_signal& stop)
      : setting_(setting), balance_(balance), stop_(stop) {}

  pipeline_sample run() {
    auto& sink = start("sink", {"--listen", "127.0.0.1:0", "--tasks", text(setting_.tasks)});
    sink_port_ = wait_for(sink, "port").rest;
    wait_for(sink, "ready");
    for (std::size_t i = 0; i < setting_.wait_ms.size(); ++i)
      workers_.push_back(&start("worker", {"--listen", "127.0.0.1:0", "--peer", host + sink_port_,
                                           "--wait", fmt::format("{}", setting_.wait_ms[i])}));
    auto& ventilator = start("ventilator", ventilator_arguments());
    const auto sent = values_of(wait_for(ventilator, "done", limit_s(setting_)).rest);
    // All is acknowledged: nothing is on its way any more.
    pipeline_sample result;
    take_ventilator(result, sent);
    for (auto* worker : workers_)
      take_worker(result, end_of(*worker));
    take_sink(result, end_of(sink));
    return result;
  }

private:
  static constexpr const char* host = "127.0.0.1:";
  static std::string text(std::size_t number) { return std::to_string(number); }

  child_process& start(const std::string& part, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {"batch-ack-part", "--part", part, "--batch", text(setting_.batch)});
    return children_.emplace_back(part, arguments);
  }

  std::vector<std::string> ventilator_arguments() {
    std::vector<std::string> result{
        "--tasks",  text(setting_.tasks),   "--workers", text(workers_.size()),
        "--window", text(setting_.limit()), "--peer",    host + sink_port_};
    if (setting_.mode == ack_mode::one_batch)
      result.emplace_back("--one-batch");
    if (balance_ == balancing::round_robin)
      result.emplace_back("--round-robin");
    for (auto* worker : workers_) {
      result.insert(result.end(), {"--peer", host + wait_for(*worker, "port").rest});
      wait_for(*worker, "ready");
    }
    return result;
  }

  child_report wait_for(child_process& child, std::string_view word,
                        double seconds = start_limit_s) {
    auto report = wait_for_report(child, word, stop_, deadline_after(seconds));
    if (report.what == child_report::kind::line)
      return report;
    throw run_failure{stop_.requested() ? state::interrupted : state::failed,
                      explain(child, report)};
  }

  named_values end_of(child_process& child) {
    child.ask_to_end();
    return values_of(wait_for(child, "done").rest);
  }

  void take_ventilator(pipeline_sample& to, named_values sent) const {
    to.counted.rate = static_cast<double>(setting_.tasks) / sent["seconds"];
    to.counted.published = static_cast<std::uint64_t>(sent["sent"]);
    to.counted.version = PUBSUB_VERSION;
    to.in_flight_max = static_cast<std::uint64_t>(sent["in_flight_max"]);
    to.bytes.ventilator = sent["bytes"];
    to.detail = fmt::format(", {:.1f} tasks a message, {} redelivered",
                            sent["sent"] / sent["messages"], sent["redelivered"]);
  }

  static void take_worker(pipeline_sample& to, named_values done) {
    to.bytes.workers.push_back(done["bytes"]);
    to.worker_tasks.push_back(done["tasks"]);
    if (done["busy"] > 0)
      to.sum_of_workers += done["tasks"] / done["busy"];
  }

  static void take_sink(pipeline_sample& to, named_values got) {
    to.counted.delivered = static_cast<std::uint64_t>(got["delivered"]);
    to.counted.disordered = static_cast<std::uint64_t>(got["unexpected"]);
    to.bytes.sink = got["bytes"];
  }

  const pipeline_setting& setting_;
  const balancing balance_;
  const stop_signal& stop_;
  std::string sink_port_;
  std::deque<child_process> children_;
  std::vector<child_process*> workers_;
};

// What came through must be all of it, once, with no more in flight than allowed.
void check(pipeline_sample& sample, const pipeline_setting& setting) {
  auto& counted = sample.counted;
  if (!counted.measured())
    return;
  counted.lost = setting.tasks - std::min<std::uint64_t>(setting.tasks, counted.delivered);
  if (counted.lost > 0 || counted.disordered > 0 || counted.published != setting.tasks)
    counted.note =
        fmt::format("of {} tasks {} were acknowledged, {} arrived, {} came twice", setting.tasks,
                    counted.published, counted.delivered, counted.disordered);
  else if (sample.in_flight_max == 0 || sample.in_flight_max > setting.limit())
    counted.note = fmt::format("{} tasks were in flight, of at most {}", sample.in_flight_max,
                               setting.limit());
  else
    return;
  counted.status = state::failed;
}

pipeline_sample read_peer(const program_run& run) {
  pipeline_sample result;
  result.counted = read_peer_run(run);
  result.in_flight_max = static_cast<std::uint64_t>(number_member(run.last_line, "in_flight_max"));
  result.bytes = {number_member(run.last_line, "ventilator_bytes"),
                  number_member(run.last_line, "sink_bytes"),
                  number_list_member(run.last_line, "worker_bytes")};
  return result;
}

} // namespace

pipeline_sample run_own_pipeline(const pipeline_setting& setting, balancing balance,
                                 const stop_signal& stop) {
  pipeline_sample result;
  try {
    result = own_pipeline{setting, balance, stop}.run();
    result.counted.status = state::measured;
    check(result, setting);
  } catch (const run_failure& failure) {
    result.counted.status = failure.status;
    result.counted.note = failure.what();
  }
  return result;
}

pipeline_sample run_peer_pipeline(const contestant& who, const pipeline_setting& setting,
                                  const stop_signal& stop) {
  pipeline_sample result;
  if (const auto& file = who.arguments.empty() ? who.program : who.arguments.back();
      !std::filesystem::exists(file)) {
    result.counted.status = state::unavailable;
    result.counted.note = "not installed";
    return result;
  }
  auto arguments = who.arguments;
  auto add = [&](const char* name, std::size_t value) {
    arguments.insert(arguments.end(), {name, std::to_string(value)});
  };
  add("--tasks", setting.tasks);
  add("--batch", setting.batch);
  add("--in-flight", setting.limit() / setting.batch);
  add("--workers", setting.wait_ms.size());
  child_process child{who.name, who.program, arguments};
  result = read_peer(run_to_end(std::move(child), deadline_after(limit_s(setting)), stop));
  check(result, setting);
  return result;
}

} // namespace pubsub::tool::bench
