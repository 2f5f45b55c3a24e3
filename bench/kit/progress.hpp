// Progress of long work: at most a line a second on stderr, and only for people.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdio>
#include <string>

#include "terminal.hpp"

namespace pubsub::tool::bench {

/// Shows nothing unless stderr is a terminal. One thread at a time.
class progress {
public:
  using clock = std::chrono::steady_clock;

  /// True once a second where lines are shown.
  bool due(clock::time_point now) noexcept {
    if (!shown_ || now < next_)
      return false;
    next_ = now + std::chrono::seconds{1};
    return true;
  }
  void show(const std::string& line) const {
    if (shown_)
      std::fprintf(stderr, "%s\n", line.c_str());
  }

private:
  bool shown_ = stderr_is_terminal();
  clock::time_point next_ = clock::now() + std::chrono::seconds{1};
};

} // namespace pubsub::tool::bench
