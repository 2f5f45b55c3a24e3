// SPDX-License-Identifier: BSD-3-Clause
#include "queue/event_fd.hpp"

#include <cstdint>

#include <sys/eventfd.h>

namespace pubsub {

int event_fd::open(bool ready) noexcept {
  if (!fd_.valid()) {
    fd_ = unique_fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (ready)
      set();
  }
  return fd_.get();
}

void event_fd::set() noexcept {
  if (!fd_.valid() || ready_)
    return;
  const std::uint64_t one = 1;
  ready_ = ::write(fd_.get(), &one, sizeof one) == sizeof one;
}

void event_fd::clear() noexcept {
  if (!fd_.valid() || !ready_)
    return;
  std::uint64_t value = 0;
  ready_ = ::read(fd_.get(), &value, sizeof value) != sizeof value;
}

} // namespace pubsub
