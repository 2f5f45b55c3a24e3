// What a sink needs of an engine, whichever it is.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <pubsub/error.hpp>

#include "bridge/engine/engine_record.hpp"

namespace pubsub::bridge {

/// What became of a record.
enum class outcome : std::uint8_t {
  written,   ///< the engine keeps it
  refused,   ///< the engine will never take it: too large, not allowed, no such name
  timed_out, ///< it may be there or not
};

/// Called with the number of the record, its size in bytes, and a sentence if it was not written.
using settle_record = std::function<void(std::uint64_t number, outcome what, std::size_t bytes,
                                         std::string_view why)>;

/// Writes records, in the order of the calls, and keeps those that are not confirmed. Not
/// thread-safe: one thread has it. What its library does on other threads shows in `fd`.
class engine_writer {
public:
  using clock = std::chrono::steady_clock;

  engine_writer() = default;
  engine_writer(const engine_writer&) = delete;
  engine_writer& operator=(const engine_writer&) = delete;
  /// Gives up what is not confirmed.
  virtual ~engine_writer() = default;

  /// Takes a record, and never blocks for long. False where there is no room: `what` is as before,
  /// and to be tried again after `poll`.
  virtual bool write(engine_record& what) = 0;
  /// As `write`, one after the other, as long as there is room. How many were taken.
  virtual std::size_t write_all(std::span<engine_record> records) {
    std::size_t taken = 0;
    while (taken < records.size() && write(records[taken]))
      ++taken;
    return taken;
  }
  /// Whether a task was written before a restart (with transactions).
  virtual bool is_there(std::string_view, std::uint64_t) { return false; }
  /// Settles what has been confirmed or refused. Never blocks for long.
  virtual void poll(const settle_record& settle) = 0;
  /// Readable while `poll` may have something to do.
  virtual int fd() const = 0;
  /// When `poll` has something to do, whether `fd` is readable or not.
  virtual clock::time_point due() const { return clock::time_point::max(); }
  /// Nothing more will be written soon: sends what it has held back to send it together.
  virtual void hurry() {}
  /// What ends everything; `none` as long as it goes on.
  virtual error failure() const = 0;
  /// What went wrong last, while it goes on trying; empty if nothing.
  virtual std::string last_problem() const = 0;
  /// The name with `/` as `.` and what the engine does not allow as `_`. Empty if there is none.
  virtual std::string usable_name(std::string_view name) const = 0;
};

} // namespace pubsub::bridge
