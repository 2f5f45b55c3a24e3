// Sole owner of a file descriptor.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include <unistd.h>

namespace pubsub {

class unique_fd {
public:
  unique_fd() noexcept = default;
  explicit unique_fd(int fd) noexcept : fd_(fd) {}
  unique_fd(unique_fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  unique_fd& operator=(unique_fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~unique_fd() {
    if (fd_ >= 0)
      ::close(fd_);
  }

  int get() const noexcept { return fd_; }
  /// Hands it to the caller.
  int release() noexcept { return std::exchange(fd_, -1); }
  bool valid() const noexcept { return fd_ >= 0; }

private:
  int fd_ = -1;
};

} // namespace pubsub
