// One measurement of a comparison: a contestant's program is run and its report read.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compare/compare_cases.hpp"
#include "kit/program_run.hpp"
#include "stop_signal.hpp"

namespace pubsub::tool::bench {

struct compare_sample {
  enum class state : unsigned char { measured, unavailable, failed, interrupted };

  state status = state::failed;
  std::string note;        ///< why there are no figures
  std::string version;     ///< of the peer, where it says so
  double rate = 0;         ///< messages per second, the mean of one run
  double cpu_ns = 0;       ///< processor time of all its processes for a message; 0: not told
  double relay_cpu_ns = 0; ///< of that what a relay took; 0: not told, or no relay
  std::uint64_t published = 0;
  std::uint64_t delivered = 0;
  std::uint64_t lost = 0;
  std::uint64_t disordered = 0; ///< doubled or out of order

  bool measured() const noexcept { return status == state::measured; }
};

/// Runs it to its end, for about `duration_s` seconds and at most a minute more. A program that is
/// not there, or finds that what it measures is not, makes the sample unavailable.
compare_sample run_contestant(const contestant& who, double duration_s, const stop_signal& stop);

/// What a program of bench/ printed last, where it ended by itself.
compare_sample read_peer_run(const program_run& run);
/// What a program of bench/ printed, or what `bench stream` and `bench chain` write.
compare_sample read_peer_report(std::string_view json);
compare_sample read_own_report(std::string_view json);

} // namespace pubsub::tool::bench
