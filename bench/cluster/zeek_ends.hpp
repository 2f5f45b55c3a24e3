// The processes of `pubsub bench zeek`: who sends events, and who receives them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "exit_code.hpp"

namespace pubsub::tool::bench {

/// What every process of the benchmark is told.
struct zeek_end_options {
  std::string
      role; ///< `source` and `sink` are asked for a connection; `reader` and `writer` connect
  std::string way;   ///< `proxy`, `direct` or `websocket`
  std::string who;   ///< `bare` or `libpubsub`
  std::string uri;   ///< where to connect, as `endpoint::peer` takes it
  unsigned xsub = 0; ///< ports of a proxy, for those that are `bare`
  unsigned xpub = 0;
  std::uint64_t events = 0;
  std::string input;
};

/// The event with the record of that log, encoded. Empty, after saying why, if there is none.
std::vector<std::byte> encoded_event(const std::string& log);

/// Runs one process to its end. It reports `ready xsub=N xpub=N` or `ready port=N`, where it is
/// connected to, and `done events=N seconds=S cpu=S`: of who receives, from the first event to the
/// last, else of sending.
exit_code run_zeek_end(const zeek_end_options& options);

} // namespace pubsub::tool::bench
