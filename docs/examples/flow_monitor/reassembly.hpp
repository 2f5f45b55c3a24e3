// Puts fragmented IP datagrams together again. Pure: time comes with the fragments.
#pragma once

#include "packet.hpp"

#include <chrono>
#include <compare>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace flow_monitor {

struct reassembly_limits {
  std::size_t max_datagrams = 1024; ///< the oldest incomplete one goes first
  std::size_t max_bytes = 8U << 20; ///< payload held over all datagrams
  std::chrono::seconds timeout{30}; ///< from the first fragment seen
};

class reassembler {
public:
  explicit reassembler(reassembly_limits limits = {}) : limits_(limits) {}

  /// Takes one fragment; returns the datagram once it is whole. Its payload views memory of this
  /// object and stays valid until the next call. Fragments that overlap make the whole datagram
  /// void (RFC 5722), as does one that was captured only in part.
  std::optional<ip_datagram> add(const ip_datagram& fragment, pubsub::timestamp at);

  /// Gives up every incomplete datagram; call at the end of input.
  void clear();

  /// Packets whose datagram was given up: timed out, void, or pushed out by a limit.
  [[nodiscard]] std::uint64_t lost_packets() const { return lost_packets_; }
  /// Packets waiting for the rest of their datagram.
  [[nodiscard]] std::uint64_t held_packets() const { return held_packets_; }

private:
  struct key {
    pubsub::address source, destination;
    std::uint32_t id;
    std::uint8_t protocol;
    auto operator<=>(const key&) const = default;
  };
  struct partial {
    key id;
    pubsub::timestamp first_seen{};
    std::map<std::uint32_t, std::vector<std::uint8_t>> pieces; ///< by offset
    std::optional<std::uint32_t> total_bytes;                  ///< known from the last fragment
    std::uint32_t held_bytes = 0;
    std::uint32_t ip_bytes = 0;
    std::uint32_t ip_packets = 0;
    std::uint8_t first_protocol = 0; ///< from the fragment at offset zero, which alone decides
  };
  using partials = std::list<partial>; // oldest first

  void give_up(partials::iterator which);
  void forget(partials::iterator which);
  void enforce_limits(pubsub::timestamp at);
  partials::iterator find_or_open(const ip_datagram& fragment, pubsub::timestamp at);
  static bool place(partial& whole, const ip_datagram& fragment);
  ip_datagram finish(partials::iterator which);

  reassembly_limits limits_;
  partials partials_;
  std::map<key, partials::iterator> index_;
  std::vector<std::uint8_t> whole_; ///< backs the payload of the datagram last returned
  std::size_t held_bytes_ = 0;
  std::uint64_t held_packets_ = 0;
  std::uint64_t lost_packets_ = 0;
};

} // namespace flow_monitor
