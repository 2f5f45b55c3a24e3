// The command line that all programs of the comparison share.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

struct run_options {
  std::string setup = "local"; ///< local (two threads) or chain (processes, loopback TCP)
  std::string messages =
      "fresh";         ///< fresh (numbered), repeated (one shared message), tree (a value)
  std::string pattern; ///< where a peer has several ways, e.g. pubsub or pushpull
  unsigned relays = 0;
  std::size_t payload_bytes = 100;
  double duration_s = 3;

  bool local() const { return setup == "local"; }
  bool repeated() const { return messages == "repeated"; }
};

/// Ends the program, with a message, where the options make no sense. `patterns` are the choices
/// for --pattern, the first being the default; empty for a program that knows one way only.
run_options parse_options(int argc, char** argv, const char* description,
                          const std::vector<std::string>& patterns = {});

} // namespace bench
