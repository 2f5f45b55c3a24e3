// The processes of `pubsub bench filter`: who publishes records, who relays them, who wants some.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

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

/// The n-th of many conditions on one field, each another value.
std::string one_of_many(unsigned n);

/// Runs one process to its end. It reports `ready port=N` where others connect to it; a reader and
/// a writer `done ns=T ...` with the time of the machine at which the last record came, or the
/// first one went out; a relay, when it is asked to end, `done bytes=N` that it has sent.
exit_code run_filter_end(const filter_end_options& options);

} // namespace pubsub::tool::bench
