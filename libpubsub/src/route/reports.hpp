// What nodes tell one another about the network: who is linked with whom, and who wants what.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <pubsub/endpoint_id.hpp>

namespace pubsub {

/// News about one node, first told by that node and passed on from node to node. Reports of one
/// kind are numbered: `number` rises by one with each change. A node that starts again with the
/// same id has a higher `life`, which makes all that was reported of its former lives void.
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

/// Asks nodes how far they know the wants of the one who asks; travels the way of messages.
struct filter_question {
  endpoint_id from;
  std::uint8_t hops_left = 0;
  std::vector<endpoint_id> to;
};

/// The number of the last wants report of `to` that counts for `from`.
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
  std::uint32_t number = 0; ///< of those of `from`
  std::uint8_t hops = 0;
  std::vector<endpoint_id> to;
};

/// To some of these nodes it has come, or nothing goes to them any more on that way.
struct flush_answer {
  endpoint_id to; ///< who has asked
  std::uint32_t number = 0;
  std::uint8_t hops_left = 0;
  std::vector<endpoint_id> from;
};

} // namespace pubsub
