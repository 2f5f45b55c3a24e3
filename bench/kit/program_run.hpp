// Programs that measure something and print it: where they are, and how one is run to its end.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "kit/child_process.hpp"
#include "stop_signal.hpp"

namespace pubsub::tool::bench {

/// The folder of the programs of bench/: `asked_for`, or where that is empty the one this program
/// is in.
std::filesystem::path find_peers(const std::string& asked_for);

/// What was seen of a program until its end, or until it was killed.
struct program_run {
  enum class end : unsigned char { by_itself, too_late, interrupted };
  end what = end::by_itself;
  std::string how; ///< `exit status 0`, or why it was killed
  std::string last_line;
};

/// Waits until the program ends, and kills it at the deadline or when a stop is asked for.
program_run run_to_end(child_process child, const deadline& limit, const stop_signal& stop);

} // namespace pubsub::tool::bench
