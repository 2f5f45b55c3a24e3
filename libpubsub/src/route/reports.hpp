// What nodes report to each other about the network: their links and their filters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <pubsub/value/endpoint_id.hpp>

namespace pubsub {

/// A node makes reports about itself, and all others pass them on. Reports of one kind are
/// numbered: `number` rises by one with each change. A node that starts again with the same id has
/// a higher `incarnation`, which makes all that was reported of the earlier ones void.
struct report_header {
  endpoint_id node;
  std::uint64_t incarnation = 0;
  std::uint64_t number = 0;
  bool whole = false; ///< `added` is everything, not what is new since the report before
};

struct neighbours_report {
  report_header about;
  bool relays = true; ///< the node passes messages on
  std::vector<endpoint_id> added;
  std::vector<endpoint_id> removed;
};

struct filter_report {
  report_header about;
  std::vector<std::string> added; ///< topic prefixes
  std::vector<std::string> removed;
};

/// Asks nodes for the last filter report of `from` that counts there; takes the route of messages.
struct filter_question {
  endpoint_id from;
  std::uint8_t hops_left = 0;
  std::vector<endpoint_id> to;
};

/// The last filter report of `to` that counts at `from`.
struct filter_answer {
  endpoint_id from;
  endpoint_id to;
  std::uint8_t hops_left = 0;
  std::uint64_t incarnation = 0;
  std::uint64_t number = 0;
};

/// Follows the messages that have come `hops` hops to these nodes, behind all that went before.
struct flush_request {
  endpoint_id from;
  std::uint32_t number = 0; ///< chosen by `from`, unique among its flushes
  std::uint8_t hops = 0;
  std::vector<endpoint_id> to;
};

/// The flush has arrived at the nodes `from`, or no message takes that route to them any more.
struct flush_answer {
  endpoint_id to; ///< the node that sent the flush
  std::uint32_t number = 0;
  std::uint8_t hops_left = 0;
  std::vector<endpoint_id> from;
};

} // namespace pubsub
