// SPDX-License-Identifier: BSD-3-Clause
#include "wait_interest.hpp"

#include <algorithm>

namespace pubsub::tool {

namespace {

bool wants_below(const filter& wanted, std::string_view topic) {
  return std::any_of(wanted.begin(), wanted.end(), [&](std::string_view prefix) {
    return prefix.starts_with(topic) || topic.starts_with(prefix);
  });
}

std::size_t peers_wanting_below(const endpoint& ep, std::string_view topic) {
  auto peers = ep.peers();
  return static_cast<std::size_t>(
      std::count_if(peers.begin(), peers.end(),
                    [&](const peer_info& peer) { return wants_below(peer.filter, topic); }));
}

} // namespace

// The library waits for one topic exactly; in between, look for peers that want topics below it.
wake wait_for_interest(const endpoint& ep, std::string_view topic, std::size_t n,
                       const stop_signal& stop, const deadline& end) {
  constexpr std::chrono::nanoseconds pause = std::chrono::milliseconds{50};
  while (peers_wanting_below(ep, topic) < n) {
    if (stop.requested())
      return wake::stopped;
    auto left = left_until(end);
    if (left.count() == 0)
      return wake::timeout;
    if (ep.wait_for_subscribers(topic, n, std::min(pause, left)))
      break;
  }
  return wake::ready;
}

} // namespace pubsub::tool
