// Addresses of other protocols: what stands between an endpoint and those who speak one.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/error.hpp>
#include <pubsub/export.hpp>

namespace pubsub {

class endpoint;
struct peer_options;

/// How often something has happened since a gateway was made.
struct gateway_counter {
  std::string_view name; ///< in lower case, with underscores
  std::string_view help; ///< a sentence
  std::uint64_t count = 0;
  bool lost = false; ///< of messages that did not get through
};

/// Stands for others that do not speak the protocol of this library, such as a Zeek cluster: a node
/// with which the endpoint is peered while the others can be reached. The destructor leaves.
/// Thread-safe.
class PUBSUB_EXPORT gateway {
public:
  gateway() = default;
  gateway(const gateway&) = delete;
  gateway& operator=(const gateway&) = delete;
  virtual ~gateway();

  /// Waits until messages can be exchanged. False at the timeout.
  virtual bool wait_connected(std::chrono::nanoseconds timeout) const = 0;
  /// Why the others are not reached, in one sentence; empty where they are.
  virtual std::string problem() const = 0;
  /// Names and texts are constants of the program.
  virtual std::vector<gateway_counter> counters() const = 0;
  /// Leaves before the destructor does, and blocks as long: the others get what was published until
  /// now, and the counters change no more.
  virtual void leave() = 0;
};

/// Of whom a gateway is.
struct gateway_host {
  /// The address that was given to `endpoint::peer`, for `peer_options::alias`.
  std::string uri;
  /// Tells status subscribers of an attempt that has failed; may be empty.
  std::function<void(const error&)> failed;
};

/// Makes the gateways for one kind of address.
struct gateway_scheme {
  std::string name; ///< what is in front of `://`
  /// Whether an address is understood. Errors: those of `open` that have their reason in it.
  std::function<expected<void>(std::string_view uri)> check;
  /// Called for `endpoint::peer`; returns at once. The endpoint may be moved or destroyed before
  /// the gateway.
  std::function<expected<std::unique_ptr<gateway>>(const endpoint&, gateway_host,
                                                   const peer_options&)>
      open;
};

/// A gateway of an endpoint.
struct gateway_info {
  std::string uri;
  std::string problem; ///< empty where the others are reached
  std::vector<gateway_counter> counters;
};

} // namespace pubsub
