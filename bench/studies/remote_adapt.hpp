// Whether `auto` finds its way when the link becomes another one under it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "stop_signal.hpp"
#include "studies/remote_conclusions.hpp"

namespace pubsub::tool::bench {

/// A load, two seconds after the change.
struct remote_adapt_row {
  std::string from;
  remote_cell cell; ///< on the network that it is now
  double before_s = 0;
  double auto_s = 0;
  remote_plan plan;
  remote_mode best = remote_mode::sync; ///< of the fixed modes
  double best_s = 0;

  double ratio() const noexcept { return auto_s / best_s; }
};

struct remote_adapt_result {
  std::vector<remote_adapt_row> rows;
  std::string failure;
};

/// lan, then wan, then lan again, each under a load that goes on. Nothing if a stop came.
remote_adapt_result run_remote_adapt(std::size_t workers, const stop_signal& stop);

void print_adapt(const std::vector<remote_adapt_row>& rows);
std::vector<json_object> describe(const std::vector<remote_adapt_row>& rows);
remote_conclusion conclude(const std::vector<remote_adapt_row>& rows);

} // namespace pubsub::tool::bench
