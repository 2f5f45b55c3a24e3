// SPDX-License-Identifier: BSD-3-Clause
#include "pipelines/batch_ack_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace pubsub::tool::bench {

namespace {

constexpr const char* mode_names[] = {"unacknowledged", "one_batch", "window"};
constexpr double mib = 1024 * 1024;

double largest(const std::vector<double>& numbers) {
  return numbers.empty() ? 0 : *std::ranges::max_element(numbers);
}

std::string factor(const std::optional<double>& ratio) {
  return ratio ? fmt::format("{:.2f}", *ratio) : "-";
}

void print_row(const pipeline_result& in, const pipeline_row& row) {
  const auto rate = row.rates.rate();
  const auto status = row.rates.status();
  if (!rate) {
    fmt::print("  {:<10} {}\n", row.rates.who.name, status);
    return;
  }
  fmt::print("  {:<10} {:>9.0f} {:>9.0f} {:>9.0f} {:>9} {:>10} {:>8.1f} {:>8.1f} {:>8.1f}{}\n",
             row.rates.who.name, rate->median, rate->min, rate->max,
             factor(median_ratio(&in.rows.front().rates, &row.rates)), row.in_flight_max,
             row.bytes.ventilator / mib, largest(row.bytes.workers) / mib, row.bytes.sink / mib,
             status == "measured" ? "" : "  a round " + status);
}

} // namespace

void pipeline_row::add(const pipeline_sample& sample) {
  rates.samples.push_back(sample.counted);
  in_flight_max = std::max(in_flight_max, sample.in_flight_max);
  bytes.ventilator = std::max(bytes.ventilator, sample.bytes.ventilator);
  bytes.sink = std::max(bytes.sink, sample.bytes.sink);
  bytes.workers.resize(std::max(bytes.workers.size(), sample.bytes.workers.size()));
  for (std::size_t i = 0; i < sample.bytes.workers.size(); ++i)
    bytes.workers[i] = std::max(bytes.workers[i], sample.bytes.workers[i]);
}

std::string title_of(const pipeline_setting& setting) {
  switch (setting.mode) {
  case ack_mode::unacknowledged:
    return fmt::format("batch {}, all in flight", setting.batch);
  case ack_mode::one_batch:
    return fmt::format("batch {}, one in flight", setting.batch);
  case ack_mode::window:
    break;
  }
  return fmt::format("batch {}, window {}", setting.batch, setting.limit());
}

void print_pipelines(const std::vector<pipeline_result>& results) {
  for (const auto& x : results) {
    fmt::print("{}\n  {:<10} {:>9} {:>9} {:>9} {:>9} {:>10} {:>8} {:>8} {:>8}\n",
               title_of(x.setting), "", "msgs/s", "min", "max", "ours / it", "in flight",
               "vent MiB", "work MiB", "sink MiB");
    for (const auto& row : x.rows)
      print_row(x, row);
    fmt::print("\n");
  }
}

std::vector<json_object> describe(const std::vector<pipeline_result>& results) {
  std::vector<json_object> list;
  for (const auto& x : results)
    for (const auto& row : x.rows) {
      const auto& ours = x.rows.front().rates;
      json_object bytes;
      bytes.add("ventilator", row.bytes.ventilator)
          .add("workers", row.bytes.workers)
          .add("sink", row.bytes.sink);
      auto& result = list.emplace_back();
      result.add("mode", mode_names[static_cast<int>(x.setting.mode)])
          .add("batch", x.setting.batch)
          .add("window", x.setting.limit())
          .add("who", row.rates.who.name)
          .add("version", row.rates.samples.empty() ? "" : row.rates.samples.front().version)
          .add("status", row.rates.status())
          .add("ours_to_it", median_ratio(&ours, &row.rates).value_or(NAN))
          .add("msgs_per_s", describe(row.rates.rate().value_or(rate_statistics{})))
          .add("in_flight_max", row.in_flight_max)
          .add("rss_bytes", bytes);
      add_sequence(result, row.rates.sequence());
    }
  return list;
}

} // namespace pubsub::tool::bench
