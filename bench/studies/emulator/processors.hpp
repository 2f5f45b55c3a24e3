// Which processor a link has, and that who measures it stays off it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <sched.h>

namespace emulator {

/// The calling thread stays on the last processor that it may use. How long programs take to wake
/// each other depends on where they run, and is to be the same for every link.
void stay_on_last_processor() noexcept;

/// Keeps the calling thread off that processor as long as this lives, if it may use another.
class off_last_processor {
public:
  off_last_processor() noexcept;
  /// By the same thread.
  ~off_last_processor();
  off_last_processor(const off_last_processor&) = delete;
  off_last_processor& operator=(const off_last_processor&) = delete;

private:
  std::optional<::cpu_set_t> before_;
};

} // namespace emulator
