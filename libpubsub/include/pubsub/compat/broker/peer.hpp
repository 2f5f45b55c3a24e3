// How Broker names endpoints and peers.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <pubsub/compat/broker/convert.hpp>
#include <pubsub/compat/broker/time.hpp>
#include <pubsub/status.hpp>
#include <pubsub/value/endpoint_id.hpp>

namespace broker {
inline namespace over_pubsub {

/// The name of an endpoint in the network, a UUID; all zero where it is not known.
class endpoint_id {
public:
  static constexpr std::size_t num_bytes = 16;
  using array_type = std::array<std::byte, num_bytes>;

  endpoint_id() = default;
  explicit endpoint_id(const array_type& bytes) : bytes_(bytes) {}
  explicit endpoint_id(const pubsub::endpoint_id& id) {
    std::memcpy(bytes_.data(), id.bytes().data(), num_bytes);
  }
  static endpoint_id random() { return endpoint_id{pubsub::endpoint_id::random()}; }
  static endpoint_id nil() noexcept { return {}; }

  pubsub::endpoint_id native() const {
    pubsub::endpoint_id::bytes_type bytes;
    std::memcpy(bytes.data(), bytes_.data(), num_bytes);
    return pubsub::endpoint_id{bytes};
  }
  const array_type& bytes() const noexcept { return bytes_; }
  bool valid() const noexcept { return *this != endpoint_id{}; }
  explicit operator bool() const noexcept { return valid(); }

  friend auto operator<=>(const endpoint_id&, const endpoint_id&) = default;
  friend bool operator==(const endpoint_id&, const endpoint_id&) = default;

private:
  array_type bytes_{};
};

inline bool convert(const endpoint_id& from, std::string& to) {
  to = pubsub::to_string(from.native());
  return true;
}
inline bool convert(const std::string& from, endpoint_id& to) {
  const auto parsed = pubsub::endpoint_id::parse(from);
  if (parsed)
    to = endpoint_id{*parsed};
  return parsed.has_value();
}

/// Where a peer is, and after how long to try again.
struct network_info {
  network_info() = default;
  network_info(std::string addr, std::uint16_t number, timeout::seconds pause = {})
      : address(std::move(addr)), port(number), retry(pause) {}

  std::string address;
  std::uint16_t port = 0;
  timeout::seconds retry{};

  bool has_retry_time() const noexcept { return retry.count() != 0; }
  friend std::strong_ordering operator<=>(const network_info& x, const network_info& y) {
    const auto hosts = x.address <=> y.address;
    return hosts != 0 ? hosts : x.port <=> y.port;
  }
  friend bool operator==(const network_info& x, const network_info& y) { return (x <=> y) == 0; }
};

inline bool convert(const network_info& from, std::string& to) {
  to = from.address + ':' + std::to_string(from.port);
  return true;
}
inline std::string to_string(const std::optional<network_info>& x) {
  return x ? '*' + to_string(*x) : "null";
}

/// An endpoint and where it is, if that is known.
struct endpoint_info {
  endpoint_info() = default;
  explicit endpoint_info(endpoint_id id) : node(id) {}
  endpoint_info(endpoint_id id, std::optional<network_info> where)
      : node(id), network(std::move(where)) {}
  endpoint_info(const pubsub::endpoint_id& id, const std::optional<pubsub::network_info>& where)
      : node(id) {
    if (where)
      network.emplace(where->address, where->port);
  }

  endpoint_id node;
  std::optional<network_info> network;

  friend bool operator==(const endpoint_info&, const endpoint_info&) = default;
};

inline bool convert(const endpoint_info& from, std::string& to) {
  to = "endpoint_info(" + to_string(from.node) + ", " +
       (from.network ? to_string(from.network) : "none") + ')';
  return true;
}

enum class peer_flags : int {
  invalid = 0x00,
  local = 0x01,
  remote = 0x02,
  outbound = 0x04,
  inbound = 0x08,
};
constexpr peer_flags operator+(peer_flags x, peer_flags y) {
  return static_cast<peer_flags>(static_cast<int>(x) | static_cast<int>(y));
}
namespace detail {
constexpr bool has_flag(peer_flags x, peer_flags wanted) {
  return (static_cast<int>(x) & static_cast<int>(wanted)) != 0;
}
} // namespace detail
constexpr bool is_local(peer_flags x) {
  return detail::has_flag(x, peer_flags::local);
}
constexpr bool is_remote(peer_flags x) {
  return detail::has_flag(x, peer_flags::remote);
}
constexpr bool is_outbound(peer_flags x) {
  return detail::has_flag(x, peer_flags::outbound);
}
constexpr bool is_inbound(peer_flags x) {
  return detail::has_flag(x, peer_flags::inbound);
}

enum class peer_status {
  initialized,
  connecting,
  connected,
  peered,
  disconnected,
  reconnecting,
  unknown,
};

inline const char* to_string(peer_status x) {
  constexpr const char* names[] = {"initialized",  "connecting",   "connected", "peered",
                                   "disconnected", "reconnecting", "unknown"};
  const auto index = static_cast<std::size_t>(x);
  return index < std::size(names) ? names[index] : "unknown";
}
inline bool convert(peer_status from, std::string& to) {
  to = to_string(from);
  return true;
}

/// One peer, as `endpoint::peers` lists them.
struct peer_info {
  endpoint_info peer;
  peer_flags flags = peer_flags::invalid;
  peer_status status = peer_status::unknown;
};

} // namespace over_pubsub
} // namespace broker

template <>
struct std::hash<broker::endpoint_id> {
  std::size_t operator()(const broker::endpoint_id& x) const noexcept {
    return std::hash<pubsub::endpoint_id>{}(x.native());
  }
};
template <>
struct std::hash<broker::network_info> {
  std::size_t operator()(const broker::network_info& x) const noexcept {
    return std::hash<std::string>{}(x.address) ^ x.port;
  }
};
