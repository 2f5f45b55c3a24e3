// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <pubsub/metrics/metrics_server.hpp>

namespace pubsub {

namespace {

std::string where(const peer_info& x) {
  return (x.network ? to_string(*x.network) : to_string(x.id)) + " is " +
         std::string{x.state == peer_state::lost ? "lost" : "not reached yet"};
}

} // namespace

std::optional<std::string> why_not_ready(const endpoint& ep) {
  const auto peers = ep.peers();
  const auto is_up = [](const peer_info& x) { return x.state == peer_state::peered; };
  const auto outgoing = std::ranges::count_if(peers, &peer_info::outgoing);
  if (outgoing > 0 &&
      std::ranges::none_of(peers, [&](const auto& x) { return x.outgoing && is_up(x); })) {
    const auto first = std::ranges::find_if(peers, &peer_info::outgoing);
    return "none of the peers it connects to is connected: " + where(*first) +
           (outgoing > 1 ? " and " + std::to_string(outgoing - 1) + " more" : "");
  }
  const auto up = std::ranges::count_if(peers, is_up);
  const auto full = std::ranges::count_if(
      peers, [&](const auto& x) { return is_up(x) && x.counters.queued >= x.capacity_messages; });
  if (full * 2 > up)
    return "overloaded: the queues of " + std::to_string(full) + " of " + std::to_string(up) +
           " links are full";
  return std::nullopt;
}

} // namespace pubsub
