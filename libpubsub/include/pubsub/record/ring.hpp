// Keeps the newest messages in memory, compressed, until they are to be written to a file.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include <pubsub/data_message.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>
#include <pubsub/record/recording_options.hpp>
#include <pubsub/value/time.hpp>

namespace pubsub::record {

/// A flight recorder. Thread-safety: one thread at a time.
class PUBSUB_EXPORT ring {
public:
  /// Errors: invalid_argument, as `check`.
  static expected<ring> open(ring_options options);

  ring(ring&&) noexcept;
  ring& operator=(ring&&) noexcept;
  ~ring();

  /// Keeps messages, as `writer::write` writes them, and forgets the oldest beyond the bounds.
  /// Errors: limit_exceeded (a payload of 2 GiB or more).
  expected<void> write(std::span<const data_message> messages, timestamp log_time = now());
  /// Notes that messages are missing where the next one is kept.
  void note(const gap& missing, timestamp when = now());

  /// Writes all that is kept to a file, and goes on keeping it. The files are called
  /// NAME-0001.mcap, NAME-0002.mcap and so on: the next number that is free. They say `about`
  /// beside `chunk_options::about`, and instead of it where names are the same. Returns what was
  /// written. Errors: cannot_write_file.
  expected<totals> save(const std::string& path,
                        const std::map<std::string, std::string, std::less<>>& about = {});

  /// Messages that are kept.
  std::uint64_t messages() const noexcept;
  /// Bytes that they take, compressed.
  std::uint64_t bytes() const noexcept;
  /// The file that was written last; empty if there is none.
  const std::string& path() const noexcept;

private:
  class core;
  explicit ring(std::unique_ptr<core> state);

  std::unique_ptr<core> state_;
};

} // namespace pubsub::record
