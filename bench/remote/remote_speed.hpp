// How fast remote operations are on plain loopback, beside bare sockets and peers.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "kit/rate_meter.hpp"
#include "remote/remote_results.hpp"
#include "stop_signal.hpp"

namespace pubsub::tool::bench {

struct remote_speed_options {
  unsigned rounds = 3;
  double duration_s = 1; ///< of a measurement
  std::size_t workers = 1;
  std::string peers_dir; ///< where the programs of bench/ are; empty to look beside this program
  bool progress = false;
};

/// One who takes part: operations per second, a sample a round.
struct remote_speed_row {
  std::string who;
  std::string mode;
  operation_kind operation = operation_kind::noop;
  std::size_t size_bytes = 24;
  std::vector<double> rates;
  std::string note; ///< why there is no figure

  std::string status() const;
  double median() const { return rate_statistics::of(rates).median; }
};

/// All in turns, round after round. Nothing if a stop came.
std::vector<remote_speed_row> run_remote_speed(const remote_speed_options& options,
                                               const stop_signal& stop);

void print_speed(const std::vector<remote_speed_row>& rows);
std::vector<json_object> describe(const std::vector<remote_speed_row>& rows);
/// What is promised, with the figures.
std::vector<remote_conclusion> conclude(const std::vector<remote_speed_row>& rows);

} // namespace pubsub::tool::bench
