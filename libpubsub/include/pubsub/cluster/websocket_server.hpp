// A server of the WebSocket API of Zeek clusters; belongs to the component pubsub::cluster.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <pubsub/access.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>
#include <pubsub/queue_options.hpp>
#include <pubsub/tls_options.hpp>

namespace pubsub::cluster {

struct websocket_server_options {
  /// Where to listen: `ws://HOST:PORT`, or `wss://HOST:PORT`, encrypted. Port 0 picks one; an empty
  /// host or `*` means every address. Clients connect to the path `/v1/messages/json` there.
  std::string address = "ws://127.0.0.1:27759";
  /// For `wss`: certificate and key have to be there. With authorities (`ca_file`, `ca_path`)
  /// clients are asked for a certificate, and one that they show must be signed by these; who shows
  /// none is let in where `access` has a rule for it.
  tls_options tls{};
  /// What clients may do, by the token or the certificate that they show, or as anonymous; nothing:
  /// everything. A client for which there is no rule gets the HTTP status 401 or 403.
  std::optional<access_rules> access{};
  /// Origins whose web pages may connect, as browsers say them: `https://desk.example.org`; `*` is
  /// any. Pages of this server's own host and port always may, and what is no browser need not say
  /// an origin.
  std::vector<std::string> allowed_origins{};
  /// What waits for one client. A client that does not read must not hold up others, so the policy
  /// must not be `block`.
  queue_options queue{.policy = overflow_policy::drop_newest};
  /// How often a client is pinged, the first time at once; it is cut off where it has not answered
  /// by the next time. 0: never.
  std::chrono::nanoseconds ping_interval = std::chrono::seconds{5};
  /// A connection that is not upgraded to WebSocket by then is closed.
  std::chrono::nanoseconds handshake_timeout = std::chrono::seconds{10};
  /// Clients at a time, at most; one more gets the HTTP status 503. Each takes about six file
  /// descriptors.
  std::size_t max_clients = 1'000;
  /// The longest message taken from a client, which loses its connection with a longer one.
  std::size_t max_message_bytes = 4 * 1024 * 1024;
  /// Threads that serve clients, each of which stays on one of them; at least 1.
  unsigned threads = 1;
};

/// Whether all fields are in range; files of `tls` are looked at where the server starts. Errors:
/// invalid_argument; the context names the field.
PUBSUB_EXPORT expected<void> check(const websocket_server_options& options);

/// What a server has counted since it was made.
struct websocket_server_counters {
  std::uint64_t clients = 0;    ///< now
  std::uint64_t accepted = 0;   ///< clients that got through the handshake
  std::uint64_t refused = 0;    ///< connections: no rights, another origin, or too many of them
  std::uint64_t failed = 0;     ///< connections: no WebSocket, no TLS, or too slow with these
  std::uint64_t timed_out = 0;  ///< clients that answered no ping
  std::uint64_t bad_frames = 0; ///< clients lost by frames too long, not UTF-8 or malformed

  // Of each message that came from a client, one of these counts:
  std::uint64_t events_received = 0; ///< published
  std::uint64_t unwanted = 0;        ///< no subscriber of the network wanted its topic
  std::uint64_t refused_events = 0;  ///< its topic is reserved or too long, or it is too large
  std::uint64_t malformed = 0; ///< no JSON, no event, or no subscriptions; the client was told

  // Of each message on its way to a client, one of these counts:
  std::uint64_t events_sent = 0; ///< written
  std::uint64_t not_events = 0;  ///< it is no Zeek event
  std::uint64_t dropped = 0; ///< `queue` was full; of clients that are gone. What the queue of the
                             ///< link has dropped the endpoint counts
  std::uint64_t unsent = 0;  ///< the client was gone before it was written
};

/// Zeek's WebSocket API (JSON, version 1) as long as the object exists, on threads of its own. Each
/// client is a client of the endpoint's, like any other: a peer of its own with the name that it
/// gives itself (`X-Application-Name`) and its address, whose rights, counters and status are those
/// of links. It is sent no events of its own, and nothing but Zeek events.
class PUBSUB_EXPORT websocket_server {
public:
  /// The endpoint becomes a relay, as with `listen`: its `forwarding` must not be `off`. It may be
  /// moved or destroyed before the server; clients are then closed. Errors:
  /// invalid_argument, address_in_use, cannot_listen (the address, or a folder for sockets), and
  /// those of `check(tls_options)`; limit_exceeded (no thread, no descriptor).
  static expected<websocket_server> start(const endpoint& ep, websocket_server_options options);

  websocket_server(websocket_server&&) noexcept;
  websocket_server& operator=(websocket_server&&) noexcept;
  /// Closes all clients, and waits a second at most until they have answered.
  ~websocket_server();

  /// The port it listens at.
  std::uint16_t port() const noexcept;
  /// Where clients connect, as a URI with that port.
  std::string uri() const;
  websocket_server_counters counters() const;

  /// From now on these rules hold. Clients for which there is another rule now, or none, are
  /// closed. Errors: as of `check(access_rules)`; then the old rules stay.
  expected<void> set_access(std::optional<access_rules> rules);
  /// From now on connections are accepted with these certificates; those that exist go on with
  /// theirs. Errors: as of `start`, and the old ones stay; invalid_argument where the server does
  /// not encrypt.
  expected<void> set_tls(const tls_options& options);

private:
  class running;
  explicit websocket_server(std::unique_ptr<running> state);

  std::unique_ptr<running> state_;
};

} // namespace pubsub::cluster
