// SPDX-License-Identifier: BSD-3-Clause
#include "studies/remote_run.hpp"

#include "remote/remote_site.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace pubsub::tool::bench {

namespace {

constexpr double fit_limit_s = 120;
constexpr std::size_t bytes_to_fit = 100'000; // of a result: amidst those of the grid
constexpr double fit_least_s = 0.15;          // so that a pause of the machine does not decide
constexpr double split_patience = 4; // times that of others: long is what the table is to show

class network_run {
public:
  network_run(const std::string& network, const remote_run_options& options,
              const stop_signal& stop, remote_grid_result& to)
      : network_(network), options_(options), stop_(stop), to_(to),
        site_(network, options.workers, stop) {}

  void run() {
    at_ = fit();
    to_.parameters[network_] = at_;
    for (const auto& cell : make_remote_grid(network_, options_.extent)) {
      to_.cells.push_back(rows_of(cell));
      measure_all(to_.cells.back());
    }
  }

private:
  /// Each the median of some, for whatever else the machine does.
  remote_parameters fit() {
    const bool wan = network_ == "wan";
    const double least_s = wan ? 0 : fit_least_s;
    (void)site_.run({remote_mode::pipeline, {operation_kind::noop, 100}, least_s}, fit_limit_s);
    const auto measure = [&](remote_mode mode, const remote_work& what) {
      return site_.run({mode, what, least_s}, fit_limit_s);
    };
    return fit_parameters(measure, bytes_to_fit);
  }

  remote_cell_rows rows_of(const remote_cell& cell) const {
    remote_cell_rows result{cell, {}};
    for (const auto mode : modes_of(cell)) {
      auto& row = result.rows.emplace_back();
      row.cell = cell;
      row.mode = mode;
      row.modelled_s = modelled_seconds(at_, mode, cell.what);
    }
    return result;
  }

  /// 0 where patience does not last for one.
  unsigned rounds_of(const remote_row& row) const {
    const auto patience =
        options_.patience_s * (row.cell.sweep == remote_sweep::split ? split_patience : 1);
    if (row.modelled_s > patience)
      return options_.full ? 1 : 0;
    const auto fit = std::ceil(options_.time_s / std::max(row.modelled_s, 1e-9));
    return static_cast<unsigned>(std::clamp(fit, 1.0, static_cast<double>(options_.rounds)));
  }

  void measure_all(remote_cell_rows& cell) {
    measure(cell);
    if (options_.progress)
      show(cell);
  }

  /// Rounds of all modes in turns, each beginning with another.
  void measure(remote_cell_rows& cell) {
    const auto modes = cell.rows.size();
    for (unsigned round = 0; round < options_.rounds; ++round)
      for (std::size_t i = 0; i < modes; ++i)
        if (auto& row = cell.rows[(round + i) % modes]; row.note.empty() && round < rounds_of(row))
          measure(row);
  }

  void measure(remote_row& row) {
    try {
      const auto sample =
          site_.run({row.mode, row.cell.what, options_.least_s}, limit_of(row.modelled_s));
      row.rounds.push_back(sample.seconds);
      row.plan = sample.plan;
    } catch (const remote_failure& why) {
      if (why.what_kind != remote_failure::kind::refused)
        throw;
      row.note = why.what(); // the others may do
    }
  }

  static void show(const remote_cell_rows& cell) {
    std::string text;
    for (const auto& row : cell.rows)
      text += fmt::format(" {} {}", to_string(row.mode),
                          row.measured() ? fmt::format("{:.4g} s", row.median()) : row.status());
    fmt::print(stderr, "{}:{}\n", cell.cell.title(), text);
  }

  const std::string network_;
  const remote_run_options& options_;
  const stop_signal& stop_;
  remote_grid_result& to_;
  remote_site site_;
  remote_parameters at_;
};

} // namespace

double limit_of(double modelled_s) {
  return 60 + 10 * modelled_s;
}

bool run_remote_grid(const std::string& network, const remote_run_options& options,
                     const stop_signal& stop, remote_grid_result& to) {
  try {
    network_run{network, options, stop, to}.run();
  } catch (const remote_failure& why) {
    if (why.what_kind == remote_failure::kind::interrupted)
      return false;
    to.failure = fmt::format("{}: {}", network, why.what());
  }
  return true;
}

} // namespace pubsub::tool::bench
