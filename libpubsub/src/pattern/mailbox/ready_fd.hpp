// A file descriptor for who polls a part of a pattern instead of waiting for it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace pubsub::pattern {

/// Readable while another descriptor is, or `set` says so (level-triggered). Guarded by its owner's
/// mutex. Made on first use, so that who never polls has none.
class ready_fd {
public:
  ready_fd() = default;
  ready_fd(const ready_fd&) = delete;
  ready_fd& operator=(const ready_fd&) = delete;
  ~ready_fd() {
    for (const int each : {both_, own_})
      if (each >= 0)
        ::close(each);
  }

  /// The descriptor, or -1 if the process has none left.
  int open(int other, bool ready) noexcept {
    if (both_ >= 0)
      return both_;
    own_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    both_ = ::epoll_create1(EPOLL_CLOEXEC);
    for (const int each : {own_, other}) {
      epoll_event wanted{};
      wanted.events = EPOLLIN;
      ::epoll_ctl(both_, EPOLL_CTL_ADD, each, &wanted);
    }
    set(ready);
    return both_;
  }
  void set(bool ready) noexcept {
    if (own_ < 0 || ready == ready_)
      return;
    ready_ = ready;
    eventfd_t ignored = 0;
    ready ? ::eventfd_write(own_, 1) : ::eventfd_read(own_, &ignored);
  }

private:
  int own_ = -1;
  int both_ = -1;
  bool ready_ = false;
};

} // namespace pubsub::pattern
