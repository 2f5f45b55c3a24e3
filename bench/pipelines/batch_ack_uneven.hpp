// Workers that are not equally fast: what a pipeline makes of them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "exit_code.hpp"
#include "json_object.hpp"
#include "pipelines/batch_ack_run.hpp"

namespace pubsub::tool::bench {

struct uneven_options {
  double factor = 0; ///< so much longer the last worker takes; 0: not asked for
  double task_ms = 1;
  unsigned rounds = 3;
  std::string json_file;
  bool progress = false;
};

/// Measures the pipeline with the last worker slower, by either way of balancing, in turns.
/// `setting` says the rest.
exit_code run_uneven(pipeline_setting setting, const uneven_options& options,
                     const stop_signal& stop);

} // namespace pubsub::tool::bench
