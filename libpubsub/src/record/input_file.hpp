// Reading parts of a file whose content is not trusted.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <pubsub/error.hpp>

#include "base/unique_fd.hpp"
#include "record/byte_buffer.hpp"

namespace pubsub::record {

/// Not mapped into memory: a file that becomes shorter while it is read must not end the program.
class input_file {
public:
  /// Errors: cannot_open_file.
  static expected<input_file> open(std::string path);

  const std::string& path() const noexcept { return path_; }
  /// As it was when the file was opened.
  std::uint64_t size_bytes() const noexcept { return size_; }

  /// Replaces the content of `out` by `size` bytes from `offset` on. Errors: end_of_file (the file
  /// has not so many: nothing is allocated), cannot_open_file (reading failed).
  expected<void> read(std::uint64_t offset, std::uint64_t size, byte_buffer& out) const;

  /// `<path>, byte <offset>: <sentence>`.
  error problem(errc code, std::uint64_t offset, const std::string& sentence) const;

private:
  input_file(std::string path, unique_fd fd, std::uint64_t size)
      : path_(std::move(path)), fd_(std::move(fd)), size_(size) {}

  std::string path_;
  unique_fd fd_;
  std::uint64_t size_ = 0;
};

} // namespace pubsub::record
