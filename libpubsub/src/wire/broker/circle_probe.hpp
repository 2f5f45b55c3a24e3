// What a node sends a Broker peer to learn whether messages come back over another. Pure: bytes
// in, bytes out.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <pubsub/value/endpoint_id.hpp>

namespace pubsub::wire {

/// Says: this node has given this to that Broker peer. Written as a message of a data store, the
/// acknowledgement of a number that no store has sent: Brokers pass such
/// messages on as they do data, and show them to no subscriber.
struct circle_probe {
  endpoint_id from; ///< the node
  endpoint_id over; ///< the peer
  friend bool operator==(const circle_probe&, const circle_probe&) = default;
};

/// A whole frame, for all subscribers to `topic`.
std::vector<std::byte> make_circle_probe(const circle_probe& x, std::string_view topic);
/// Parses the payload of a command. Nothing if it is none of ours.
std::optional<circle_probe> parse_circle_probe(std::span<const std::byte> payload) noexcept;

} // namespace pubsub::wire
