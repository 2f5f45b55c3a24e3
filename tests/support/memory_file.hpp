// A file that exists in memory only, with a path by which it can be opened.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace pubsub::test {

class memory_file {
public:
  memory_file() : fd_(::memfd_create("test", MFD_CLOEXEC)) {
    if (fd_ < 0)
      throw std::runtime_error{"no file in memory"};
  }
  explicit memory_file(std::span<const std::byte> content) : memory_file() {
    if (::write(fd_, content.data(), content.size()) != static_cast<::ssize_t>(content.size()))
      throw std::runtime_error{"the file in memory cannot be written"};
  }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;
  ~memory_file() { ::close(fd_); }

  /// For this process, as long as the object lives.
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

private:
  int fd_;
};

} // namespace pubsub::test
