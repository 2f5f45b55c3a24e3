// How an endpoint takes part in a Zeek cluster as a client of its WebSocket API.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/cluster/topic_names.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>
#include <pubsub/queue_options.hpp>
#include <pubsub/tls_options.hpp>

namespace pubsub::cluster {

struct websocket_options {
  /// Where the server is (`Cluster::listen_websocket`): `ws://HOST:PORT/PATH`, or `wss://...` to
  /// encrypt. Without them the port is 27759 and the path `/v1/messages/json`.
  std::string url = "ws://127.0.0.1:27759/v1/messages/json";
  /// For `wss`: whom to trust, and the certificate to show where the server asks for one. With
  /// nothing set the authorities of the system count. The certificate of the server must be for the
  /// host of `url`.
  tls_options tls{};
  /// Shown to the server as `Authorization: Bearer`; empty: nothing. Zeek's own server does not
  /// look at it, a proxy before it may.
  std::string token{};
  /// What the client calls itself (`X-Application-Name`): letters, digits and `/_.=:*@-`.
  std::string application = "libpubsub";
  /// Prefixes of the topics that are to come, as they are called outside the cluster. Nothing: what
  /// the network subscribes to; a server takes subscriptions only at the beginning of a connection,
  /// so there may be several (`websocket_member`).
  std::optional<std::vector<std::string>> topics{};
  /// Of what the network publishes, events on topics with these prefixes are sent: no server tells
  /// what it wants.
  std::vector<std::string> send = {""};
  /// Names of topics. Nothing: as the server's cluster has them. One with the ZeroMQ backend is
  /// known by the id that its server gives to the client, and its topics are `mapped`; those of
  /// others are the same on both sides.
  std::optional<topic_names> names{};
  /// What waits for the server. With `block` publishers are held back as long as it is full.
  queue_options outgoing{};
  /// What has come from the server and waits for the endpoint. A server keeps without bound what a
  /// client does not read, so the policy must not be `block`. With `drop_newest` room is waited for
  /// before an event is dropped: a tenth of a second, or less where that was in vain a short time
  /// ago; so a burst may be longer than the queue.
  queue_options incoming{.policy = overflow_policy::drop_newest};
  /// How long to wait until a connection can be used.
  std::chrono::nanoseconds timeout = std::chrono::seconds{10};
  /// The server is gone if it has said nothing for so long; it is asked three times meanwhile. 0:
  /// never.
  std::chrono::nanoseconds liveness_timeout = std::chrono::seconds{15};
};

/// Whether all fields are in range. Errors: invalid_argument, and those of `check(tls_options)`;
/// the context names the field.
PUBSUB_EXPORT expected<void> check(const websocket_options& options);

/// The options that an address says: `ws://HOST:PORT/PATH` or `wss://...`, with `?` and, separated
/// by `&`: `topics=A,B` and `send=A,B`, `names=mapped` or `names=as-they-are`, `application=NAME`,
/// `token=FILE` or `token=environment` (`PUBSUB_WEBSOCKET_TOKEN`), and, for `wss`, the files
/// `ca=FILE`, `certificate=FILE` and `key=FILE`. `%2C` is a comma, and so on. What is behind the
/// `?` is not sent to the server. Errors: invalid_argument, cannot_open_file (the token's).
PUBSUB_EXPORT expected<websocket_options> websocket_options_from(std::string_view uri);

} // namespace pubsub::cluster
