// What came of versioned delivery: tables, CSV, and results for programs.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "json_object.hpp"
#include "kit/rate_meter.hpp"
#include "versioned/versioned_run.hpp"

namespace pubsub::tool::bench {

/// A round: what was measured, and the limit beside it.
struct versioned_round {
  versioned_sample sample;
  double bare_p50_us = 0; ///< a TCP ping-pong with the same payload, in the same round
};

/// A scheme with a payload, one by one or pipelined.
struct versioned_row {
  versioned_setting setting;
  std::vector<versioned_round> rounds;

  bool measured() const;
  /// `measured`, or why not.
  std::string status() const;
  std::uint64_t messages() const;
  std::uint64_t violations() const;
  /// Of the rounds that were measured; zeros where none was.
  template <class Part>
  rate_statistics statistics(Part part) const {
    std::vector<double> list;
    for (const auto& round : rounds)
      if (round.sample.measured())
        list.push_back(part(round));
    return rate_statistics::of(std::move(list));
  }
  rate_statistics seconds_per_million() const;
  rate_statistics rate() const;
  /// p50 divided by a bare ping-pong for each hop; one by one only. A ping-pong crosses two links,
  /// so a bare message that went the same way would have half.
  std::optional<double> ratio_per_hop() const;
  /// Nothing where they could not be counted.
  std::optional<double> calls() const;
};

/// A table for each payload, one by one and pipelined.
void print_versioned(const std::vector<versioned_row>& rows);
std::string csv_of(const std::vector<versioned_row>& rows);
/// One object a row.
std::vector<json_object> describe(const std::vector<versioned_row>& rows);

} // namespace pubsub::tool::bench
