// One run of a pipeline with batch acknowledgements: ours, or that of a program of bench/.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <pubsub/pattern/pipeline_options.hpp>

#include "compare/compare_cases.hpp"
#include "compare/compare_run.hpp"
#include "stop_signal.hpp"

namespace pubsub::tool::bench {

/// What is in flight until its acknowledgement comes.
enum class ack_mode : unsigned char {
  unacknowledged, ///< all tasks: one batch of them
  one_batch,      ///< a batch, then the next
  window,         ///< so many tasks, whatever the batch
};

struct pipeline_setting {
  std::size_t tasks = 1'000'000;
  std::size_t batch = 100; ///< tasks that are acknowledged together
  std::size_t window = 20'000;
  ack_mode mode = ack_mode::one_batch;
  std::vector<double> wait_ms; ///< by worker: for so long it waits with each task

  /// Tasks in flight, at most; whole batches.
  std::size_t limit() const { return mode == ack_mode::window ? window / batch * batch : batch; }
};

/// The most memory that each process has occupied.
struct pipeline_memory {
  double ventilator = 0;
  double sink = 0;
  std::vector<double> workers;
};

struct pipeline_sample {
  compare_sample counted;
  std::uint64_t in_flight_max = 0;
  std::string detail; ///< of ours: how tasks have travelled, for people
  pipeline_memory bytes;
  std::vector<double> worker_tasks; ///< of ours: how many each has done
  double sum_of_workers = 0;        ///< tasks per second, of workers that wait
};

/// Starts sink, workers and ventilator, and waits until every task is acknowledged.
pipeline_sample run_own_pipeline(const pipeline_setting& setting, balancing balance,
                                 const stop_signal& stop);
/// Runs a program of bench/ with the options of the setting.
pipeline_sample run_peer_pipeline(const contestant& who, const pipeline_setting& setting,
                                  const stop_signal& stop);

} // namespace pubsub::tool::bench
