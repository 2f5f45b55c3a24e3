// The grid of `bench remote-study`, measured: a network after the other, in each cell the modes in
// turns.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "stop_signal.hpp"
#include "studies/remote_report.hpp"

namespace pubsub::tool::bench {

struct remote_run_options {
  remote_extent extent = remote_extent::usual;
  unsigned rounds = 3;
  double patience_s = 15; ///< what the model says takes longer is not measured
  double time_s = 15;     ///< for the rounds of a mode in a cell: long ones are measured less often
  double least_s = 0.03;  ///< of a measurement: short ones are repeated for so long
  std::size_t workers = 1; ///< of the server
  bool full = false;       ///< whatever it takes
  bool progress = false;
};

struct remote_grid_result {
  parameters_by_network parameters;
  std::vector<remote_cell_rows> cells;
  std::string failure; ///< of a network that could not be made
};

/// Adds what a network gives to `to`. False if a stop came.
bool run_remote_grid(const std::string& network, const remote_run_options& options,
                     const stop_signal& stop, remote_grid_result& to);

/// The longest a run is waited for that the model gives so long.
double limit_of(double modelled_s);

} // namespace pubsub::tool::bench
