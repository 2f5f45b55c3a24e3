// Who writes what a thread publishes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

namespace pubsub {

/// While one exists, what its thread publishes is written by the loops of the links
/// alone, even where a link is idle (link/link.hpp).
class left_writing {
public:
  left_writing() noexcept : before_(std::exchange(here_, true)) {}
  ~left_writing() { here_ = before_; }
  left_writing(const left_writing&) = delete;
  left_writing& operator=(const left_writing&) = delete;

  static bool is_on() noexcept { return here_; }

private:
  inline static thread_local bool here_ = false;
  const bool before_;
};

} // namespace pubsub
