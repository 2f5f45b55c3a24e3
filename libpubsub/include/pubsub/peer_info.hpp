// What an endpoint reports of its peers, and of the nodes of the network.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/counters.hpp>
#include <pubsub/export.hpp>
#include <pubsub/filter.hpp>
#include <pubsub/status.hpp>
#include <pubsub/value/endpoint_id.hpp>

namespace pubsub {

enum class peer_state : std::uint8_t { connecting, peered, lost };

/// The name of the enumerator, e.g. `peered`.
PUBSUB_EXPORT std::string_view to_string(peer_state x) noexcept;

/// What a node holds because of a peer, in bytes; each has a bound (docs/security.md, "Limits").
struct held_for_peer {
  std::uint64_t topics = 0;  ///< announced by it, as long as anything holds them
  std::uint64_t reports = 0; ///< of the network, that it has made or passed on
  std::uint64_t control = 0; ///< answers and news that wait until it reads them
  /// Shared with it to carry messages (`endpoint_options::memory`); 0: a socket carries them.
  std::uint64_t shared_memory = 0;
};

/// One peer as `endpoint::peers` reports it.
struct peer_info {
  endpoint_id id;     ///< nil until the first handshake
  std::string name{}; ///< what the peer calls itself (`endpoint_options::name`); empty: not known
  /// Where it is, if that is known.
  std::optional<network_info> network;
  peer_state state = peer_state::connecting;
  /// What the peer has subscribed to; a client is not told what its relay has.
  pubsub::filter filter;
  /// Of the link to it.
  link_counters counters;
  std::uint8_t wire_version = 0; ///< of the peering protocol; 0 unless peered
  /// What is held because of it.
  held_for_peer held;
  std::string access;  ///< the name of the rule that holds for it; empty: none does
  bool client = false; ///< it passes nothing on, and only its relays know it
  /// This endpoint connects to it (`endpoint::peer`), and again when it is lost; it is listed while
  /// it is away, too.
  bool outgoing = false;
  /// What the link holds of messages that wait, before it is full; 0 unless peered.
  std::uint64_t capacity_messages = 0;
  std::uint64_t capacity_bytes = 0; ///< the same, in bytes
  /// Between the two hosts and back, as the kernel measured it over TCP a few seconds ago at most.
  std::optional<std::chrono::microseconds> round_trip{};
};

/// One node of the network, at any distance, as `endpoint::nodes` reports it. Peers that speak
/// version 1 are neighbours of nodes but no nodes themselves.
struct node_info {
  endpoint_id id;
  std::string name{};   ///< as `peer_info::name`
  endpoint_id next_hop; ///< the peer that messages for this node go to; nil if out of reach
  std::vector<endpoint_id> neighbours; ///< as the node itself reports them
  bool relays = true;                  ///< passes messages on
  pubsub::filter filter;               ///< what the node has subscribed to
};

} // namespace pubsub
