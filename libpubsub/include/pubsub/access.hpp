// Rights of peers: who may connect, publish, subscribe and pass messages on, and how much of it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/error.hpp>
#include <pubsub/export.hpp>
#include <pubsub/filter.hpp>

namespace pubsub {

/// How much a peer may do; 0 means any amount. A peer that sends faster is held back by credit and
/// loses nothing; one that goes beyond another limit loses its link with `limit_exceeded`, or is
/// not admitted.
struct access_limits {
  std::uint64_t messages_per_second = 0;
  std::uint64_t bytes_per_second = 0; ///< of frames with messages, on the wire
  std::uint64_t subscriptions = 0;    ///< topic prefixes of the peer itself
  std::uint64_t topics = 0;           ///< it publishes on and has announced, at a time
  std::uint64_t queued_bytes = 0; ///< that wait to be written to the peer, from when it connects
  std::uint64_t connections = 0;  ///< peers at a time for which the rule is
  friend bool operator==(const access_limits&, const access_limits&) = default;
};

/// For whom a rule is, and what they may do. A peer is one of `certificates` if the common name or
/// a subject alternative name (DNS, IP, e-mail, URI) of its certificate is; `*` stands for any name
/// and `*.example.org` for all that end so. It is one of `users` if it has connected over `unix://`
/// as a user with that name or number. It is anonymous if it shows no certificate, no user and
/// no token.
struct access_rule {
  std::string name; ///< in the status and in messages; not empty
  /// Names of certificates for which the rule is.
  std::vector<std::string> certificates{};
  /// Names or numbers of users for whom it is.
  std::vector<std::string> users{};
  /// Digests of tokens (`sha256:` and 64 hexadecimal digits in lower case): it is for clients that
  /// show one of these tokens, which those of a `cluster::websocket_server` can.
  std::vector<std::string> tokens{};
  /// Whether it is for peers that are anonymous.
  bool anonymous = false;
  /// A relay: the peer may pass on messages of other endpoints, and report other nodes. Without
  /// this right the peer is a client.
  bool relay = false;
  /// It may ask how nodes other than its peers are, how the network is, and where messages go
  /// (`endpoint::status_of`, `network_of`, `trace`). A relay may: it asks for others.
  bool inspect = false;
  /// The topics that messages from the peer may have, its own and those it passes on, and those
  /// that messages to it may have. Nothing: all.
  std::optional<filter> publish{};
  std::optional<filter> subscribe{};
  /// How much each peer may do.
  access_limits limits{};
  friend bool operator==(const access_rule&, const access_rule&) = default;
};

/// The first rule that is for a peer holds; a peer for which there is none is refused.
using access_rules = std::vector<access_rule>;

/// Whether every rule has a name of its own and fits at least one peer, and tokens are digests.
/// Errors: invalid_argument; the context says which rule.
PUBSUB_EXPORT expected<void> check(const access_rules& rules);

/// Reads rules in TOML (docs/security.md, "Access rules"): a `[[rule]]` for each, with the names of
/// the fields above, `role = "relay"` or `"client"`, and limits in a table `limits`. Errors:
/// invalid_argument, whose context says line and column; not_supported in a build without toml++.
PUBSUB_EXPORT expected<access_rules> parse_access_rules(std::string_view toml);
/// The same from a file, whose name begins the context. Errors: cannot_open_file as well.
PUBSUB_EXPORT expected<access_rules> read_access_rules(const std::string& path);

} // namespace pubsub
