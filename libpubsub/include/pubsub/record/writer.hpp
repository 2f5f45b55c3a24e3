// Writes messages to MCAP files: the component pubsub::record.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <pubsub/data_message.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>
#include <pubsub/record/recorded_message.hpp>
#include <pubsub/record/recording_options.hpp>
#include <pubsub/value/time.hpp>

namespace pubsub::record {

/// A recording that grows. The file can be read while it is written, and after a crash: a process
/// that is killed loses the messages of the last chunk and no others; `close` adds an index.
/// Messages are read back in the order in which they were written. Thread-safety: one thread at a
/// time. Blocks for as long as the disk does. Every error names the file.
class PUBSUB_EXPORT writer {
public:
  /// Creates the first file. Errors: invalid_argument (as `check`), cannot_write_file.
  static expected<writer> open(std::string path, writer_options options = {});

  writer(writer&&) noexcept;
  writer& operator=(writer&&) noexcept;
  /// Closes; an error is lost.
  ~writer();

  /// Writes a message, with its origin where it has one. `log_time` is when it was recorded; a
  /// time before that of the message before counts as that one. The time of publishing is the
  /// network time of a Zeek event that has one, and otherwise `log_time`. Errors:
  /// cannot_write_file; limit_exceeded (a payload of 2 GiB or more).
  expected<void> write(const data_message& msg, timestamp log_time = now());
  /// The same for messages that came together.
  expected<void> write(std::span<const data_message> messages, timestamp log_time = now());
  /// Writes a message that was read from a recording, with its origin, times and payload. Its
  /// format need not be that of the options.
  expected<void> write(const message& msg);
  /// Notes that messages are missing where the next one is written.
  void note(const gap& missing, timestamp when = now());

  /// Writes out what has been gathered, as a chunk. For moments in which nothing comes.
  expected<void> flush();
  /// Writes out all, and the index. Later calls of `write` return cannot_write_file. Idempotent.
  expected<void> close();

  const record::totals& totals() const noexcept;
  /// The file that is being written, or was the last.
  const std::string& path() const noexcept;

private:
  class core;
  explicit writer(std::unique_ptr<core> state);

  std::unique_ptr<core> state_;
};

} // namespace pubsub::record
