// A file descriptor that is readable while a condition holds.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/unique_fd.hpp"

namespace pubsub {

/// Level-triggered: `set` makes it readable, `clear` makes it not. Not thread-safe: guarded by its
/// owner's mutex. The descriptor is made on first use, so a queue that is never polled has none.
class event_fd {
public:
  /// The descriptor, or -1 if the process has none left.
  int open(bool ready) noexcept;
  void set() noexcept;
  void clear() noexcept;
  bool is_open() const noexcept { return fd_.valid(); }

private:
  unique_fd fd_;
  bool ready_ = false;
};

} // namespace pubsub
