// An endpoint as a client of the WebSocket API of a Zeek cluster: of the component pubsub::cluster.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <pubsub/cluster/member_counters.hpp>
#include <pubsub/cluster/websocket_options.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>
#include <pubsub/gateway.hpp>

namespace pubsub::cluster {

class websocket_membership;

/// Messages for the cluster are those on topics of `websocket_options::send`.
struct websocket_counters : member_counters {
  std::uint64_t extended = 0; ///< further connections, since the network wanted more topics
  std::uint64_t replaced = 0; ///< times that one connection has taken the place of all
  std::uint64_t errors = 0;   ///< messages of the server that something was wrong
  std::uint64_t repeated =
      0; ///< events of which another connection of this member brings the topic
};

/// Takes part in the cluster of a server as long as it exists, on a thread of its own: the endpoint
/// has the cluster as a peer at `address()`, a socket in a folder that only this user can enter,
/// while the server is connected; status events and `peers` tell. Events then go both ways; those
/// that come before the endpoint is a peer wait at the server, `websocket_options::timeout` at
/// most.
///
/// A server takes subscriptions only at the beginning of a connection. So where the network wants
/// topics that no connection brings yet, another one is opened for them, up to four; instead of a
/// fifth, all are closed and one is opened with all topics (`replaced`), and what nodes publish
/// between the server's last answers and the new acknowledgement does not come. What is wanted no
/// more still comes, is counted as `unwanted`, and ends with the next connection. Each topic
/// belongs to one connection, so nothing comes twice, and what the network has published does not
/// come back. A connection that is lost takes the others with it: then the server is looked for
/// again, and what is published meanwhile, on either side, does not get to the other. Of several
/// members at one server in one network one does the work, and another takes over when it is gone:
/// events may then be lost, or come twice, for a tenth of a second.
class PUBSUB_EXPORT websocket_member {
public:
  /// Returns at once. The endpoint may be moved or destroyed before the member. Errors:
  /// invalid_argument; those of `check(tls_options)`; cannot_listen (the folder), limit_exceeded (a
  /// thread, or a file descriptor).
  static expected<websocket_member> join(const endpoint& ep, websocket_options options,
                                         gateway_host host = {});

  websocket_member(websocket_member&&) noexcept;
  websocket_member& operator=(websocket_member&&) noexcept;
  /// Leaves; waits half a second at most until the server has got what was written to it.
  ~websocket_member();

  /// The address at which the endpoint has the cluster as a peer.
  const std::string& address() const noexcept;
  /// Waits until messages can be exchanged and the endpoint has the cluster as a peer. False at the
  /// timeout; `problem` says what is known of the reason.
  [[nodiscard]] bool wait_connected(std::chrono::nanoseconds timeout) const;
  /// Why the server is not reached, in one sentence; while it is, what it last said was wrong, or
  /// nothing.
  std::string problem() const;
  websocket_counters counters() const;
  /// Leaves before the destructor does, and blocks as long; the counters change no more.
  void leave();

private:
  explicit websocket_member(std::unique_ptr<websocket_membership> made);

  std::unique_ptr<websocket_membership> state_;
};

} // namespace pubsub::cluster
