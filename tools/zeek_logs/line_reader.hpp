// Lines of a text file or of standard input, bounded in length, also while the file grows.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <pubsub/error.hpp>

namespace pubsub {

/// What the end of the file means.
enum class reading : std::uint8_t {
  whole_file, ///< the end is the end; a last line without line feed counts
  follow,     ///< more may come: only complete lines count, and a replaced file is opened again
};

/// Reads lines one after the other through a buffer of its own. Never throws on any bytes. Movable;
/// one thread at a time.
class line_reader {
public:
  static constexpr std::size_t max_line_bytes = 16 * 1024 * 1024;

  /// `-` is standard input. Errors: cannot_open_file (missing, not permitted, a directory); the
  /// context names the file and the cause.
  static expected<line_reader> open(std::string file, reading mode = reading::whole_file);
  line_reader(line_reader&& other) noexcept;
  line_reader& operator=(line_reader&& other) noexcept;
  ~line_reader();

  /// The next line without its line feed (and without a carriage return before it), valid until the
  /// next call; nothing at the end, or where no complete line is there yet (`follow`: call again
  /// later). Blocks only where reading the file does. Errors: limit_exceeded for a line longer than
  /// `max_line_bytes`, which is skipped; cannot_open_file if reading fails, after which there is
  /// nothing more. The context is `file:line: cause`.
  expected<std::optional<std::string_view>> next();

  /// Number of the line `next` dealt with last, from 1.
  std::uint64_t line() const noexcept { return line_; }
  const std::string& file() const noexcept { return file_; }
  /// True if `next` can return without reading from the file.
  bool buffered() const noexcept;
  int fd() const noexcept { return fd_; }

private:
  enum class fill_result : std::uint8_t { more, end, failed };

  line_reader(std::string file, int fd, reading mode);
  fill_result fill();
  bool reopen_if_replaced();
  std::string_view take(std::size_t length, std::size_t consumed);
  pubsub::error fail(errc code, std::string_view cause) const;
  void close() noexcept;

  std::string file_;
  int fd_ = -1;
  reading mode_ = reading::whole_file;
  std::string buffer_;
  std::size_t begin_ = 0;   // first byte not yet handed out
  std::size_t scanned_ = 0; // no line feed in [begin_, scanned_)
  bool skipping_ = false;   // inside a line that was too long
  bool ended_ = false;
  std::uint64_t line_ = 0;
};

} // namespace pubsub
