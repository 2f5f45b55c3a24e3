// Wakes a thread that waits for descriptors.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <span>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/unique_fd.hpp"

namespace pubsub::bridge {

class wake_up {
public:
  wake_up() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  /// From any thread: ends the wait that is going on, or the next one.
  void raise() const noexcept {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(fd_.get(), &one, sizeof one);
  }
  /// Waits until one of the descriptors is readable, it is raised, or the time has come.
  void wait(std::span<const int> fds, std::chrono::steady_clock::time_point until) const noexcept {
    pollfd all[4] = {{fd_.get(), POLLIN, 0}};
    nfds_t count = 1;
    for (const auto each : fds)
      if (each >= 0 && count < 4)
        all[count++] = {each, POLLIN, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        std::min(until - std::chrono::steady_clock::now(),
                 std::chrono::steady_clock::duration{std::chrono::seconds{1}}));
    ::poll(all, count, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    std::uint64_t raised = 0;
    [[maybe_unused]] const auto taken = ::read(fd_.get(), &raised, sizeof raised);
  }

private:
  unique_fd fd_;
};

} // namespace pubsub::bridge
