// What came of remote execution: rows, tables, CSV, and results for programs.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "json_object.hpp"
#include "kit/rate_meter.hpp"
#include "studies/remote_grid.hpp"
#include "studies/remote_models.hpp"

namespace pubsub::tool::bench {

/// What `auto` may take, at most, of the time of the best other mode.
inline constexpr double promised_auto_ratio = 1.10;

/// A mode in a cell.
struct remote_row {
  remote_cell cell;
  remote_mode mode = remote_mode::sync;
  double modelled_s = 0;
  std::vector<double> rounds; ///< seconds
  remote_plan plan;           ///< of the last round
  std::string note;           ///< why there is no figure, or not from all rounds

  bool measured() const noexcept { return !rounds.empty(); }
  /// `measured`, `modelled`, or why it failed.
  std::string status() const;
  rate_statistics seconds() const { return rate_statistics::of(rounds); }
  double median() const { return seconds().median; }
};

/// All modes of a cell.
struct remote_cell_rows {
  remote_cell cell;
  std::vector<remote_row> rows;

  /// Nothing where it is not there or has no figure.
  std::optional<double> measured(remote_mode mode) const;
  /// The fastest of some modes that were measured.
  const remote_row* fastest(const std::vector<remote_mode>& of) const;
  /// Of each round the time of `auto` divided by that of the fixed mode that is the best by its
  /// median; the median of these: what slows the machine down for a while slows both.
  std::optional<double> auto_ratio() const;
};

/// sync, bulk, async, pipeline, hybrid.
const std::vector<remote_mode>& fixed_remote_modes();

using parameters_by_network = std::map<std::string, remote_parameters>;

/// What the models were told, a line a network.
void print_parameters(const parameters_by_network& all);
/// A table a series.
void print_remote(const std::vector<remote_cell_rows>& cells);
std::string csv_of(const std::vector<remote_cell_rows>& cells);
/// One object a row.
std::vector<json_object> describe(const std::vector<remote_cell_rows>& cells);
json_object describe(const parameters_by_network& all);

} // namespace pubsub::tool::bench
