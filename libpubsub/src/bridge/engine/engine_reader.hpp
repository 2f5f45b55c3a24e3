// What a source needs of an engine, whichever it is.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <pubsub/error.hpp>

#include "bridge/engine/engine_record.hpp"

namespace pubsub::bridge {

/// A record that was read.
struct fetched_record {
  std::string to; ///< the name that it is kept under
  std::string key;
  std::string payload;
  provenance from;
  bool again = false; ///< the engine says that it was given out before
};

/// Reads records, and tells the engine how far it has come. Not thread-safe: one thread has it.
class engine_reader {
public:
  engine_reader() = default;
  engine_reader(const engine_reader&) = delete;
  engine_reader& operator=(const engine_reader&) = delete;
  virtual ~engine_reader() = default;

  /// Appends at most `max` records, and waits for the first one for `timeout` at most.
  virtual void fetch(std::vector<fetched_record>& out, std::size_t max,
                     std::chrono::milliseconds timeout) = 0;
  /// Everything that was fetched is done, for good. Where the engine cannot be told now, it is told
  /// with the next call. False if it was not.
  virtual bool commit() = 0;
  /// Whether everything that was kept has been fetched, as far as is known.
  virtual bool at_end() const = 0;
  /// Records that are kept behind those that were fetched, as far as is known.
  virtual std::uint64_t lag() const = 0;
  /// As of `engine_writer`.
  virtual error failure() const = 0;
  virtual std::string last_problem() const = 0;
};

} // namespace pubsub::bridge
