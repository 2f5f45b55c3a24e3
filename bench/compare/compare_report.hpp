// The figures of a comparison: ratios, tables, a file for programs.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/compare_cases.hpp"
#include "compare/compare_run.hpp"
#include "kit/report.hpp"

namespace pubsub::tool::bench {

/// A contestant with one sample a round.
struct compare_row {
  contestant who;
  std::vector<compare_sample> samples;

  /// Nothing where no round has figures.
  std::optional<rate_statistics> rate() const;
  /// Processor time for a message; nothing where no round tells it.
  std::optional<rate_statistics> cpu_ns() const;
  /// The same of a relay alone.
  std::optional<rate_statistics> relay_cpu_ns() const;
  /// Added up over all rounds.
  sequence_result sequence() const;
  /// `measured`, or why not.
  std::string status() const;

private:
  std::optional<rate_statistics> statistics_of(double compare_sample::*figure) const;
};

struct compare_result {
  compare_case measured;
  std::vector<compare_row> rows;

  const compare_row* find(part role) const;
};

/// The median over the rounds of `a`'s rate divided by `b`'s of the same round: what drifts from
/// one round to the next cancels out. Nothing where no round has both.
std::optional<double> median_ratio(const compare_row* a, const compare_row* b);

void print_tables(const std::vector<compare_result>& results);
void print_csv(const std::vector<compare_result>& results);
/// One measurement a row.
std::vector<measurement> to_measurements(const std::vector<compare_result>& results,
                                         std::size_t payload_bytes);

} // namespace pubsub::tool::bench
