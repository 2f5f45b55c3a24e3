// What came of pipelines with batch acknowledgements: tables, and results for programs.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "compare/compare_report.hpp"
#include "json_object.hpp"
#include "pipelines/batch_ack_run.hpp"

namespace pubsub::tool::bench {

/// One who takes part, with a sample a round.
struct pipeline_row {
  compare_row rates;
  std::uint64_t in_flight_max = 0; ///< of all rounds, as the memory
  pipeline_memory bytes;

  void add(const pipeline_sample& sample);
};

/// A setting and those who were measured in it: ourselves first, then libzmq.
struct pipeline_result {
  pipeline_setting setting;
  std::vector<pipeline_row> rows;
};

/// `one batch of 100 in flight`.
std::string title_of(const pipeline_setting& setting);

void print_pipelines(const std::vector<pipeline_result>& results);
/// One object a row.
std::vector<json_object> describe(const std::vector<pipeline_result>& results);

} // namespace pubsub::tool::bench
