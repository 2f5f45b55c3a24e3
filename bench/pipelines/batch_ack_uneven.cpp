// SPDX-License-Identifier: BSD-3-Clause
#include "pipelines/batch_ack_uneven.hpp"

#include "kit/report.hpp"
#include "terminal.hpp"

#include <fmt/format.h>

namespace pubsub::tool::bench {

namespace {

using state = compare_sample::state;

/// A way of balancing, with a sample a round.
struct balance_row {
  balancing balance;
  const char* name;
  std::vector<double> rates = {};
  std::vector<double> of_sum = {};
};

// False if a stop came, or the run failed.
exit_code measure(balance_row& row, const pipeline_setting& setting, const uneven_options& options,
                  const stop_signal& stop) {
  const auto sample = run_own_pipeline(setting, row.balance, stop);
  if (!sample.counted.measured()) {
    complain(fmt::format("{}: {}", row.name, sample.counted.note));
    if (sample.counted.status == state::interrupted)
      return exit_code::usage;
    return sample.counted.lost > 0 ? exit_code::loss : exit_code::connect;
  }
  row.rates.push_back(sample.counted.rate);
  row.of_sum.push_back(sample.counted.rate / sample.sum_of_workers);
  if (options.progress)
    fmt::print(stderr,
               "{}: {:.0f} tasks/s, {:.3f} of what the workers can do; tasks by worker {}\n",
               row.name, row.rates.back(), row.of_sum.back(), fmt::join(sample.worker_tasks, ", "));
  return exit_code::ok;
}

void print_row(const balance_row& row) {
  const auto rate = rate_statistics::of(row.rates);
  const auto of_sum = rate_statistics::of(row.of_sum);
  fmt::print("{:<18} {:>9.0f} {:>9.0f} {:>9.0f} {:>8.3f} {:>8.3f} {:>8.3f}\n", row.name,
             rate.median, rate.min, rate.max, of_sum.median, of_sum.min, of_sum.max);
}

json_object describe(const balance_row& row) {
  json_object result;
  result.add("balance", row.name)
      .add("msgs_per_s", describe(rate_statistics::of(row.rates)))
      .add("ratio_to_sum_of_workers", describe(rate_statistics::of(row.of_sum)));
  return result;
}

json_object params_of(const pipeline_setting& setting, const uneven_options& options) {
  json_object params;
  params.add("tasks", setting.tasks)
      .add("workers", setting.wait_ms.size())
      .add("uneven", options.factor)
      .add("task_ms", options.task_ms)
      .add("rounds", options.rounds);
  return params;
}

} // namespace

exit_code run_uneven(pipeline_setting setting, const uneven_options& options,
                     const stop_signal& stop) {
  setting.mode = ack_mode::window;
  setting.batch = task_queue_options{}.batch_tasks;
  setting.wait_ms.assign(setting.wait_ms.size(), options.task_ms);
  setting.wait_ms.back() *= options.factor;
  std::vector<balance_row> rows{{balancing::least_outstanding, "least_outstanding"},
                                {balancing::round_robin, "round_robin"}};
  for (unsigned round = 0; round < options.rounds; ++round)
    for (auto& row : rows)
      if (auto failed = measure(row, setting, options, stop); failed != exit_code::ok)
        return failed;
  if (options.json_file != "-") {
    fmt::print("{:<18} {:>9} {:>9} {:>9} {:>8} {:>8} {:>8}\n", "", "tasks/s", "min", "max",
               "of sum", "min", "max");
    for (const auto& row : rows)
      print_row(row);
    std::fflush(stdout);
  }
  std::vector<json_object> results;
  for (const auto& row : rows)
    results.push_back(describe(row));
  return save_report(options.json_file, "batch-ack-uneven", params_of(setting, options), results);
}

} // namespace pubsub::tool::bench
