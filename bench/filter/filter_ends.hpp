// The processes of `pubsub bench filter`: who publishes records, who relays them, who wants some.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <pubsub/condition.hpp>

#include "exit_code.hpp"

namespace pubsub::tool::bench {

/// What every process of the benchmark is told.
struct filter_end_options {
  std::string role;          ///< writer, relay, reader; syslog-writer, syslog-reader
  unsigned port = 0;         ///< of the process it connects to; 0: none
  std::uint64_t records = 0; ///< that are published, or are to arrive
  std::string input;         ///< a Zeek log
  std::string where;         ///< of the reader; empty: it wants everything
  unsigned conditions = 0;   ///< more than one: so many subscribers, each with `one_of_many`
  unsigned publishers = 1;   ///< threads of the writer
  bool node = false;         ///< the writer is a node of the network, not a client
};

/// The records of a log: encoded for us, and their lines with blanks for tabs for others.
struct filter_records {
  std::string topic;
  std::vector<record_column> columns;
  std::vector<std::vector<std::byte>> encoded;
  std::vector<std::string> lines;
};

expected<filter_records> read_records(const std::string& log);
/// With the columns of the log, so that they need not be announced.
expected<condition> condition_on(const filter_records& records, const std::string& text);
/// The n-th of many conditions on one field, each another value.
std::string one_of_many(unsigned n);

/// Runs one process to its end. It reports `ready port=N` where others connect to it; a reader and
/// a writer `done ns=T ...` with the time of the machine at which the last record came, or the
/// first one went out; a relay, when it is asked to end, `done bytes=N` that it has sent.
exit_code run_filter_end(const filter_end_options& options);

} // namespace pubsub::tool::bench
