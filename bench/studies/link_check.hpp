// Whether a link is as it was set: measured from its two ends, with bare sockets.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "studies/emulator/link_emulator.hpp"

#include "exit_code.hpp"
#include "kit/rate_meter.hpp"
#include "stop_signal.hpp"

namespace pubsub::tool::bench {

struct link_check_options {
  ::emulator::link_settings settings;
  unsigned rounds = 5;
  double duration_s = 1; ///< of a transfer
  double limit_percent = 3;
  bool power_saving = false; ///< idle processors may fall asleep
  std::string json_file;
  bool progress = false;
};

/// Measures, prints the table (or the report, with `-`), writes the report. loss if something is
/// further from what was set than the limit.
exit_code check_link(const link_check_options& options, const stop_signal& stop);

/// `40 ms`, `12.5 us`.
std::string time_text(double ns);
/// `40 Mb/s`; `unlimited` for 0.
std::string rate_text(double bits_per_s);
/// `round trip 40 ms, up 40 Mb/s, down 7 Mb/s`.
std::string link_text(const ::emulator::link_settings& x);
/// A sentence: what is taken off the round trip, `cost`.
std::string cost_text(const ::emulator::link_settings& x, std::chrono::nanoseconds cost);

} // namespace pubsub::tool::bench
