// The file of a log, in which there are whole lines only, whatever fails.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <pubsub/error.hpp>

namespace pubsub::zeek {

/// A directory, by its descriptor: what is named in it stays in it, also where the directory is
/// renamed. Movable.
class log_directory {
public:
  /// For one writer at a time. Errors: cannot_write_file (missing, no directory, not permitted,
  /// another writer has it); the context says why.
  static expected<log_directory> open(std::string path);
  log_directory(log_directory&& other) noexcept;
  log_directory& operator=(log_directory&& other) noexcept;
  ~log_directory();

  int fd() const noexcept { return fd_; }
  std::string path_of(std::string_view name) const;
  /// What went wrong with the file of this name: `errno` of the last call.
  error failure(std::string_view name) const;

  /// Gives `old_name`, as `NAME.log`, the name `NAME.<when>.log`, or `NAME.<when>.2.log` and so on
  /// where there is one already. Returns the new name; empty where there is no file `old_name`.
  /// Errors: cannot_write_file.
  expected<std::string> move_away(const std::string& name, const std::string& when) const;
  /// When the file was written to last, in seconds since the epoch; nothing where there is none.
  std::optional<std::int64_t> changed_at(const std::string& file) const;

private:
  log_directory(std::string path, int fd) noexcept : path_(std::move(path)), fd_(fd) {}

  std::string path_;
  int fd_;
};

/// Holds lines back until `flush`. Movable; the directory outlives it.
class log_file {
public:
  /// There must not be anything of this name yet. Errors: cannot_write_file.
  static expected<log_file> create(const log_directory& directory, std::string name);
  log_file(log_file&& other) noexcept;
  log_file& operator=(log_file&& other) noexcept;
  ~log_file();

  /// Lines that are not written yet, where more are appended: whole ones.
  std::string& pending() noexcept { return pending_; }
  /// Whether there is so much that it is better written now.
  bool is_due() const noexcept { return pending_.size() >= most_pending_bytes; }
  /// Writes what is pending. Where that fails, what has been written of a line is taken back, and
  /// nothing is pending any more. Errors: cannot_write_file.
  expected<void> flush();
  /// Records among the lines that could not be written.
  std::uint64_t lost() const noexcept { return lost_; }
  bool failed() const noexcept { return failed_; }

private:
  static constexpr std::size_t most_pending_bytes = std::size_t{64} * 1024;

  log_file(const log_directory& directory, std::string name, int fd) noexcept
      : directory_(&directory), name_(std::move(name)), fd_(fd) {}
  void take_back(std::string_view written);

  const log_directory* directory_;
  std::string name_;
  int fd_;
  std::string pending_;
  std::int64_t size_ = 0; // of the file, in bytes: whole lines
  std::uint64_t lost_ = 0;
  bool failed_ = false;
};

} // namespace pubsub::zeek
