// What nodes report to each other about the network: their links and their filters.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <pubsub/value/endpoint_id.hpp>

namespace pubsub {

/// Incarnations, and the numbers of reports and messages, are not higher: none is lost by an
/// overflow.
inline constexpr std::uint64_t max_number = std::uint64_t{1} << 62;

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
  std::string name{}; ///< what the node calls itself; in whole reports
};

struct filter_report {
  report_header about;
  std::vector<std::string> added; ///< topic prefixes
  std::vector<std::string> removed;
};

using any_report = std::variant<neighbours_report, filter_report>;
/// Where a report stands among those of one kind about a node: incarnation and number.
using report_version = std::pair<std::uint64_t, std::uint64_t>;

inline const report_header& header_of(const any_report& x) noexcept {
  return std::visit([](const auto& each) -> const report_header& { return each.about; }, x);
}
inline report_version version_of(const any_report& x) noexcept {
  const auto& about = header_of(x);
  return {about.incarnation, about.number};
}
/// About, in memory.
inline std::size_t bytes_of(const any_report& x) noexcept {
  if (const auto* links = std::get_if<neighbours_report>(&x))
    return sizeof x + links->name.size() +
           (links->added.size() + links->removed.size()) * sizeof(endpoint_id);
  std::size_t result = sizeof x;
  for (const auto* all : {&std::get<filter_report>(x).added, &std::get<filter_report>(x).removed})
    for (const auto& each : *all)
      result += sizeof each + each.size();
  return result;
}

/// What a client asks of its relay: how many want the topic, as far as `number`, which is then
/// enough; and what the relay tells: how many that are, and under which conditions all of them want
/// it, each time when it changes.
struct topic_interest {
  std::string topic;
  std::uint32_t number = 0;
  std::vector<std::string> conditions = {}; ///< as they are told; empty: all messages are wanted
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
