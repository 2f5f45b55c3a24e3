// SPDX-License-Identifier: BSD-3-Clause
#include "studies/remote_report.hpp"

#include "kit/report.hpp"
#include "remote/remote_results.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace pubsub::tool::bench {

namespace {

/// `0.0123 [0.98]`: seconds, and what the model says divided by them; `~12.3`: the model only.
std::string entry(const remote_cell_rows& cell, remote_mode mode) {
  const auto row = std::ranges::find(cell.rows, mode, &remote_row::mode);
  if (row == cell.rows.end())
    return "-";
  if (!row->measured())
    return row->status() == "modelled" ? fmt::format("~{:.4g}", row->modelled_s) : "failed";
  const auto seconds = row->median();
  return fmt::format("{:.4g} [{:.2f}]", seconds, row->modelled_s / seconds);
}

void print_head(const std::string& series) {
  fmt::print("\n{}\n  {:>9}", series, "");
  for (const auto mode : all_remote_modes)
    fmt::print(" {:>17}", to_string(mode));
  fmt::print(" {:>9}\n", "auto/best");
}

void print_cell(const remote_cell_rows& cell) {
  fmt::print("  {:>9}", cell.cell.place());
  for (const auto mode : all_remote_modes)
    fmt::print(" {:>17}", entry(cell, mode));
  const auto ratio = cell.auto_ratio();
  fmt::print(" {:>9}\n", ratio ? fmt::format("{:.2f}", *ratio) : "-");
}

} // namespace

std::string remote_row::status() const {
  if (!note.empty())
    return "failed: " + note;
  return measured() ? "measured" : "modelled";
}

std::optional<double> remote_cell_rows::measured(remote_mode mode) const {
  const auto row = std::ranges::find(rows, mode, &remote_row::mode);
  if (row == rows.end() || !row->measured())
    return std::nullopt;
  return row->median();
}

const remote_row* remote_cell_rows::fastest(const std::vector<remote_mode>& of) const {
  const remote_row* best = nullptr;
  for (const auto& row : rows)
    if (row.measured() && std::ranges::find(of, row.mode) != of.end() &&
        (best == nullptr || row.median() < best->median()))
      best = &row;
  return best;
}

std::optional<double> remote_cell_rows::auto_ratio() const {
  const auto* own = fastest({remote_mode::auto_});
  const auto* best = fastest(fixed_remote_modes());
  if (own == nullptr || best == nullptr)
    return std::nullopt;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(own->rounds.size(), best->rounds.size()); ++i)
    ratios.push_back(own->rounds[i] / best->rounds[i]);
  return rate_statistics::of(std::move(ratios)).median;
}

const std::vector<remote_mode>& fixed_remote_modes() {
  static const std::vector<remote_mode> all{remote_mode::sync, remote_mode::bulk,
                                            remote_mode::async, remote_mode::pipeline,
                                            remote_mode::hybrid};
  return all;
}

void print_parameters(const parameters_by_network& all) {
  fmt::print("what the models are told, measured before\n  {:<9} {:>10} {:>9} {:>9} {:>11} {:>8} "
             "{:>8} {:>10} {:>10}\n",
             "", "latency ms", "up MB/s", "down MB/s", "request us", "up hdr", "down hdr",
             "noop us", "faop us");
  for (const auto& [network, x] : all)
    fmt::print("  {:<9} {:>10.3f} {:>9.2f} {:>9.2f} {:>11.2f} {:>8.1f} {:>8.1f} {:>10.2f} "
               "{:>10.2f}\n",
               network, x.latency_s * 1e3, x.up_bytes_per_s / 1e6, x.down_bytes_per_s / 1e6,
               x.request_s * 1e6, x.up_header_bytes, x.down_header_bytes, x.operation_s[0] * 1e6,
               x.operation_s[1] * 1e6);
}

void print_remote(const std::vector<remote_cell_rows>& cells) {
  std::string series;
  for (const auto& cell : cells) {
    if (auto now = cell.cell.series(); now != series) {
      print_head(now);
      series = now;
    }
    print_cell(cell);
  }
}

std::string csv_of(const std::vector<remote_cell_rows>& cells) {
  std::string text = "sweep,network,operation,operations,size_bytes,parts,work_us,mode,status,"
                     "seconds,modelled_seconds\n";
  for (const auto& cell : cells)
    for (const auto& row : cell.rows) {
      const auto& what = cell.cell.what;
      auto status = row.status();
      std::ranges::replace(status, ',', ';');
      text +=
          fmt::format("{},{},{},{},{},{},{},{},{},{},{:.9f}\n", to_string(cell.cell.sweep),
                      cell.cell.network, to_string(what.operation), what.operations,
                      what.size_bytes, what.parts, what.work.count(), to_string(row.mode), status,
                      row.measured() ? fmt::format("{:.9f}", row.median()) : "", row.modelled_s);
    }
  return text;
}

std::vector<json_object> describe(const std::vector<remote_cell_rows>& cells) {
  std::vector<json_object> list;
  for (const auto& cell : cells)
    for (const auto& row : cell.rows) {
      list.push_back(describe_remote("grid", cell.cell.network, cell.cell.what, to_string(row.mode),
                                     row.measured() ? row.median() : NAN, row.modelled_s));
      list.back()
          .add("sweep", to_string(cell.cell.sweep))
          .add("status", row.status())
          .add("samples", row.rounds)
          .add("bulk_operations", row.plan.bulk_operations)
          .add("window_operations", row.plan.window_operations);
    }
  return list;
}

json_object describe(const parameters_by_network& all) {
  json_object result;
  for (const auto& [network, x] : all)
    result.add(network, json_object{}
                            .add("latency_s", x.latency_s)
                            .add("up_bytes_per_s", x.up_bytes_per_s)
                            .add("down_bytes_per_s", x.down_bytes_per_s)
                            .add("up_header_bytes", x.up_header_bytes)
                            .add("down_header_bytes", x.down_header_bytes)
                            .add("request_s", x.request_s)
                            .add("noop_s", x.operation_s[0])
                            .add("noop_byte_s", x.operation_byte_s[0])
                            .add("faop_s", x.operation_s[1])
                            .add("faop_byte_s", x.operation_byte_s[1]));
  return result;
}

} // namespace pubsub::tool::bench
