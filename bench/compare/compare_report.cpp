// SPDX-License-Identifier: BSD-3-Clause
#include "compare/compare_report.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace pubsub::tool::bench {

namespace {

constexpr const char* role_names[] = {"limit", "ours", "variant", "peer"};

std::string factor(const std::optional<double>& ratio) {
  return ratio ? fmt::format("{:.2f}", *ratio) : "-";
}

std::string nanoseconds(const std::optional<rate_statistics>& x) {
  return x ? fmt::format("{:.0f}", x->median) : "-";
}

std::string plain(const std::optional<double>& ratio) {
  return ratio ? fmt::format("{:.4f}", *ratio) : "";
}

void print_row(const compare_result& in, const compare_row& row) {
  auto rate = row.rate();
  if (!rate) {
    fmt::print("  {:<24} {}\n", row.who.title(), row.status());
    return;
  }
  auto sequence = row.sequence();
  auto status = row.status();
  fmt::print("  {:<24} {:>12.0f} {:>12.0f} {:>12.0f} {:>9} {:>9} {:>7} {:>8} {:>8}{}\n",
             row.who.title(), rate->median, rate->min, rate->max,
             factor(median_ratio(&row, in.find(part::limit))),
             factor(median_ratio(in.find(part::ours), &row)), nanoseconds(row.cpu_ns()),
             nanoseconds(row.relay_cpu_ns()), sequence.missing + sequence.reordered,
             status == "measured" ? "" : "  a round " + status);
}

} // namespace

std::optional<rate_statistics> compare_row::rate() const {
  return statistics_of(&compare_sample::rate);
}

std::optional<rate_statistics> compare_row::cpu_ns() const {
  return statistics_of(&compare_sample::cpu_ns);
}

std::optional<rate_statistics> compare_row::relay_cpu_ns() const {
  return statistics_of(&compare_sample::relay_cpu_ns);
}

std::optional<rate_statistics> compare_row::statistics_of(double compare_sample::*figure) const {
  std::vector<double> figures;
  for (const auto& x : samples)
    if (x.measured() && x.*figure > 0)
      figures.push_back(x.*figure);
  if (figures.empty())
    return std::nullopt;
  return rate_statistics::of(std::move(figures));
}

sequence_result compare_row::sequence() const {
  sequence_result sum;
  for (const auto& x : samples) {
    sum.published += x.published;
    sum.delivered += x.delivered;
    sum.missing += x.lost;
    sum.reordered += x.disordered;
  }
  return sum;
}

std::string compare_row::status() const {
  auto bad = std::find_if(samples.begin(), samples.end(), [](auto& x) { return !x.measured(); });
  if (bad == samples.end())
    return samples.empty() ? "not run" : "measured";
  auto failed = bad->status == compare_sample::state::failed;
  return failed ? "failed: " + bad->note : bad->note;
}

const compare_row* compare_result::find(part role) const {
  auto found =
      std::find_if(rows.begin(), rows.end(), [&](auto& row) { return row.who.role == role; });
  return found == rows.end() ? nullptr : &*found;
}

std::optional<double> median_ratio(const compare_row* a, const compare_row* b) {
  std::vector<double> ratios;
  if (a != nullptr && b != nullptr)
    for (std::size_t i = 0; i < std::min(a->samples.size(), b->samples.size()); ++i)
      if (a->samples[i].measured() && b->samples[i].measured())
        ratios.push_back(a->samples[i].rate / b->samples[i].rate);
  if (ratios.empty())
    return std::nullopt;
  return rate_statistics::of(std::move(ratios)).median;
}

void print_tables(const std::vector<compare_result>& results) {
  for (const auto& x : results) {
    fmt::print("{:<26} {:>12} {:>12} {:>12} {:>9} {:>9} {:>7} {:>8} {:>8}\n", x.measured.title(),
               "msgs/s", "min", "max", "/ limit", "ours / it", "cpu ns", "relay ns", "lost");
    for (const auto& row : x.rows)
      print_row(x, row);
    fmt::print("\n");
  }
}

void print_csv(const std::vector<compare_result>& results) {
  fmt::print("setup,messages,relays,who,usage,status,msgs_per_s,ratio_to_limit,ours_to_it,lost\n");
  for (const auto& x : results)
    for (const auto& row : x.rows) {
      auto rate = row.rate();
      auto sequence = row.sequence();
      fmt::print("{},{},{},{},{},{},{},{},{},{}\n", x.measured.setup, x.measured.messages,
                 x.measured.relays, row.who.name, row.who.usage, row.status(),
                 rate ? fmt::format("{:.0f}", rate->median) : "",
                 plain(median_ratio(&row, x.find(part::limit))),
                 plain(median_ratio(x.find(part::ours), &row)),
                 sequence.missing + sequence.reordered);
    }
}

std::vector<measurement> to_measurements(const std::vector<compare_result>& results,
                                         std::size_t payload_bytes) {
  std::vector<measurement> list;
  for (const auto& x : results)
    for (const auto& row : x.rows) {
      json_object labels;
      labels.add("setup", x.measured.setup)
          .add("messages", x.measured.messages)
          .add("relays", x.measured.relays)
          .add("who", row.who.name)
          .add("usage", row.who.usage)
          .add("role", role_names[static_cast<int>(row.who.role)])
          .add("version", row.samples.empty() ? "" : row.samples.front().version)
          .add("status", row.status())
          .add("ratio_to_limit", median_ratio(&row, x.find(part::limit)).value_or(NAN))
          .add("ours_to_it", median_ratio(x.find(part::ours), &row).value_or(NAN));
      for (const auto& [name, cpu] :
           {std::pair{"cpu_ns", row.cpu_ns()}, std::pair{"relay_cpu_ns", row.relay_cpu_ns()}})
        labels.add(name, cpu ? cpu->median : NAN);
      list.push_back(
          {labels, payload_bytes, row.rate().value_or(rate_statistics{}), row.sequence()});
    }
  return list;
}

} // namespace pubsub::tool::bench
