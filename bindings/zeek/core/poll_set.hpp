// One descriptor that is readable while any of several is.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/epoll.h>
#include <unistd.h>

namespace pubsub::zeek::backend {

/// Level-triggered. Descriptors that are closed leave by themselves. Not thread-safe.
class poll_set {
public:
  poll_set() : fd_(epoll_create1(EPOLL_CLOEXEC)) {}
  poll_set(const poll_set&) = delete;
  poll_set& operator=(const poll_set&) = delete;
  ~poll_set() {
    if (fd_ >= 0)
      close(fd_);
  }

  /// -1 if the process has no descriptor left.
  int fd() const noexcept { return fd_; }
  void add(int fd) noexcept {
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    wanted.data.fd = fd;
    epoll_ctl(fd_, EPOLL_CTL_ADD, fd, &wanted);
  }
  void remove(int fd) noexcept { epoll_ctl(fd_, EPOLL_CTL_DEL, fd, nullptr); }

private:
  const int fd_;
};

} // namespace pubsub::zeek::backend
