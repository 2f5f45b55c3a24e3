// The operations of remote execution that is measured: NOOP and FAOP.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <pubsub/data_view.hpp>
#include <pubsub/data_writer.hpp>
#include <pubsub/error.hpp>

namespace pubsub::tool::bench {

/// The longest result of an operation.
inline constexpr std::size_t most_result_bytes = std::size_t{8} << 20;

/// Delivers zeros: `size`, or `[size, work, ballast]` where the operation shall take the time
/// `work` or its argument be longer by the text `ballast`. The result is a string. Errors:
/// type_clash; limit_exceeded, more than `most_result_bytes` or ten seconds.
expected<void> noop(const data_view& argument, data_writer& result);
/// Writes an argument of NOOP.
void write_noop(data_writer& to, std::size_t size_bytes, std::chrono::nanoseconds work = {},
                std::size_t ballast_bytes = 0);
/// Writes an argument of FAOP.
void write_faop(data_writer& to, std::string_view file, std::uint64_t offset,
                std::uint64_t size_bytes);

/// How names are kept from leaving a folder: by one system call (Linux 5.6), or by opening folder
/// after folder, which follows no links at all.
enum class resolving : unsigned char { at_once, step_by_step };

/// FAOP: parts of the files below a folder. Const is concurrent.
class served_folder {
public:
  /// Errors: cannot_open_file.
  static expected<served_folder> open(const std::string& path, resolving how = resolving::at_once);
  served_folder(served_folder&& other) noexcept;
  served_folder& operator=(served_folder&&) = delete;
  ~served_folder();

  /// Delivers `[file, offset, size]`: so many bytes of a file as a string, read into the reply
  /// without a buffer between. A file is opened for each operation: one that was replaced is read
  /// as it is now. Errors: type_clash; invalid_argument, the name leaves the folder;
  /// cannot_open_file, there is no such file, or it is a folder or another thing that is no plain
  /// file; end_of_file, the file has fewer bytes; limit_exceeded, more than `most_result_bytes`.
  expected<void> operator()(const data_view& argument, data_writer& result) const;

private:
  served_folder(int fd, resolving how) noexcept : fd_(fd), how_(how) {}

  expected<int> open_below(const std::string& name) const;

  int fd_;
  resolving how_;
};

} // namespace pubsub::tool::bench
