// Shapes of networks: which relays are linked with which.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pubsub::scale {

using wire_ends = std::pair<std::size_t, std::size_t>;

/// Relays are numbered from 0; every shape is connected.
struct topology {
  std::size_t relays = 0;
  std::vector<wire_ends> wires;
};

/// The names that `make_topology` knows.
const std::vector<std::string>& families();

/// A network of about `relays` relays, as the family allows:
/// - random: a ring in random order, and random wires until each relay has four on average;
/// - hubs: a hundredth of the relays (two at least) are linked with each other, all others with two
///   of those;
/// - fat-tree: three layers; each relay has two above it, the uppermost layer is a ring;
/// - rings: rings of ten relays, of which one each is part of a ring of rings.
/// The same seed makes the same network.
topology make_topology(const std::string& family, std::size_t relays, std::uint64_t seed);

/// The number of wires on the shortest path from `from` to every relay.
std::vector<std::size_t> distances(const topology& net, std::size_t from);

} // namespace pubsub::scale
