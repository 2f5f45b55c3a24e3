// What is done to a simulated network, and what it costs.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "scale/simulated_network.hpp"

namespace pubsub::scale {

struct scenario {
  std::string family;
  std::size_t relays = 100;
  std::size_t subscriptions = 10; ///< of each relay
  std::size_t topics = 10'000;    ///< of which they choose, the n-th 1/n times as often as the
                                  ///< first; 0: no two relays have the same
  std::size_t changes = 20;       ///< that are looked at, of each kind
  std::uint64_t seed = 1;
};

/// Of all changes of one kind: medians, and the worst.
struct cost {
  double frames = 0;     ///< over all wires
  double bytes = 0;      ///< over all wires
  double worst_node = 0; ///< bytes that the node has sent that sent most
  double cpu_ms = 0;     ///< processor time of all nodes together
  double hops_p50 = 0;   ///< until half of the relays knew it, in hop times
  double hops_p99 = 0;   ///< until 99 of 100 knew it
};

struct outcome {
  scenario of;
  std::size_t wires = 0;
  std::size_t diameter = 0;      ///< as far as the relays looked at see
  cost start;                    ///< all relays connect at once
  cost subscribing;              ///< all relays make all their subscriptions
  cost fresh_topic;              ///< one more subscription, the first to its topic
  cost known_topic;              ///< one more, which its relay has already
  cost relay_comes, relay_goes;  ///< one relay more, and one less without a goodbye
  cost halves_part, halves_meet; ///< all wires between two halves break, and are made again
  cost churn;                    ///< a minute in which one relay of a hundred goes and comes back
  double stretch = 0;            ///< mean of route length to shortest path
  std::uint64_t expected = 0;    ///< deliveries, one to each subscriber of a message's topic
  std::uint64_t delivered = 0;
  std::uint64_t expired = 0;      ///< counted as lost after as many hops as messages may take
  std::uint64_t duplicates = 0;   ///< delivered more than once
  std::size_t bytes_of_worst = 0; ///< on the heap of the largest of some nodes
};

/// `say`: is told what is done next.
outcome run(const scenario& what, const std::function<void(std::string_view)>& say);

} // namespace pubsub::scale
