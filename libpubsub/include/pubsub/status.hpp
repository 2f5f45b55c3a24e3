// What happens to peerings: status and error events.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <pubsub/error.hpp>
#include <pubsub/export.hpp>
#include <pubsub/value/endpoint_id.hpp>

namespace pubsub {

/// Values are Broker's status codes.
enum class status_code : std::uint8_t {
  unspecified = 0,
  peer_added = 1,           ///< a peering is established and its first filter known
  peer_removed = 2,         ///< this side ended the peering
  peer_lost = 3,            ///< the connection closed otherwise (`status::in_good_order`)
  endpoint_discovered = 4,  ///< right before peer_added
  endpoint_unreachable = 5, ///< right after peer_removed or peer_lost
};

/// Broker's spelling, e.g. `peer_added`.
PUBSUB_EXPORT std::string_view to_string(status_code code) noexcept;

/// Which events a status_subscriber sees.
enum class status_events : std::uint8_t { all, errors };

/// Where a peer is: host and TCP port of the connection; or `unix:///path`, and port 0.
struct network_info {
  std::string address;
  std::uint16_t port = 0;
  friend bool operator==(const network_info&, const network_info&) = default;
};

/// `host:port`, or `unix:///path`.
PUBSUB_EXPORT std::string to_string(const network_info& x);

/// One event about a peer: a status change, or an error such as a failed connection attempt.
class status {
public:
  status() = default;
  /// A status change.
  status(status_code code, endpoint_id peer, std::optional<network_info> network,
         std::string message, std::string name = {}, bool in_good_order = false)
      : code_(code), peer_(peer), network_(std::move(network)), message_(std::move(message)),
        name_(std::move(name)), in_good_order_(in_good_order) {}
  /// An error.
  status(errc failure, endpoint_id peer, std::optional<network_info> network, std::string message,
         std::string name = {})
      : failure_(failure), peer_(peer), network_(std::move(network)), message_(std::move(message)),
        name_(std::move(name)) {}

  /// True for errors, false for status changes.
  bool is_error() const noexcept { return failure_ != errc::none; }
  /// `unspecified` for errors.
  status_code code() const noexcept { return code_; }
  /// `errc::none` for status changes.
  errc failure() const noexcept { return failure_; }
  /// The peer concerned; nil where it is not known (yet).
  const endpoint_id& peer() const noexcept { return peer_; }
  /// Where the peer is; nothing where that is not known.
  const std::optional<network_info>& network() const noexcept { return network_; }
  /// One sentence for people.
  const std::string& message() const noexcept { return message_; }
  /// What the peer calls itself; empty where that is not known.
  const std::string& name() const noexcept { return name_; }
  /// Whether a peer that is lost has said goodbye before: it has left, and is not missing.
  bool in_good_order() const noexcept { return in_good_order_; }

private:
  status_code code_ = status_code::unspecified;
  errc failure_ = errc::none;
  endpoint_id peer_;
  std::optional<network_info> network_;
  std::string message_;
  std::string name_;
  bool in_good_order_ = false;
};

/// `peer_added(<id>, 127.0.0.1:9999): handshake successful`.
PUBSUB_EXPORT std::string to_string(const status& x);

} // namespace pubsub
