// Versioned delivery: which way versions and acknowledgements take, and how much waits.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <pubsub/data.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>

namespace pubsub {

/// How a message gets to the replicas, and its version. One replica at a time gives versions: the
/// sequencer.
enum class versioning : std::uint8_t {
  none, ///< to all, each acknowledges: no version, no order, perhaps twice; only to compare
  version_request,         ///< asks the sequencer for a version, then sends to all
  message_returns_version, ///< sends to the sequencer, and to the others once it has the version
  one_hop,                 ///< the sequencer forwards to the others, and acknowledges for all
  one_hop_ack_client,      ///< the sequencer forwards to the others, each acknowledges
  tagged, ///< sends to all; the sequencer sends the version to the others, each acknowledges
};

inline constexpr versioning all_versionings[] = {
    versioning::none,    versioning::version_request,    versioning::message_returns_version,
    versioning::one_hop, versioning::one_hop_ack_client, versioning::tagged};

/// The name of the enumerator, e.g. `one_hop`.
PUBSUB_EXPORT std::string_view to_string(versioning x) noexcept;
/// Errors: invalid_argument, no scheme has this name.
PUBSUB_EXPORT expected<versioning> parse_versioning(std::string_view name);

/// Which message this is for all replicas. Numbers begin with 1 and are contiguous over all epochs;
/// the epoch grows when another replica becomes the sequencer. Number 0: none.
struct message_version {
  std::uint64_t epoch = 0;
  std::uint64_t number = 0;

  friend auto operator<=>(const message_version&, const message_version&) = default;
};

/// `2.1041`: epoch and number.
PUBSUB_EXPORT std::string to_string(const message_version& x);

/// What a replica is for its group.
enum class replica_state : std::uint8_t {
  joining,     ///< looks for others: a new group begins once `group_size` replicas are there
  catching_up, ///< fetches what it has missed
  member,      ///< no send completes without it
  closed,
};

/// The name of the enumerator, e.g. `catching_up`.
PUBSUB_EXPORT std::string_view to_string(replica_state x) noexcept;

/// What a replica is in its group, and how much it keeps.
struct replica_options {
  /// Its name in the group, which no other replica has while it is alive; empty: a random id.
  std::string id;
  /// Servers that the group was planned with, the same for all; at least 1. A new group begins with
  /// all of them; afterwards more than half of them must be members.
  std::size_t group_size = 3;
  /// Messages that are kept at most after they were handed out, for replicas that come late; at
  /// least 1.
  std::size_t history_messages = 1'000'000;
  /// Their size at most, in bytes as encoded; at least 1.
  std::size_t history_bytes = std::size_t{256} << 20;
  /// A replica that was silent for this time is lost; 50 ms to a year.
  std::chrono::nanoseconds liveness_timeout = std::chrono::seconds{2};
  /// Returns the state after all messages that were handed out, for replicas that come later than
  /// the history goes back; called by the thread that is in `get` or `get_batch`.
  std::function<data()> snapshot;
  /// Takes over the state as of this version, in place of all messages up to it; called by the
  /// thread that is in `get` or `get_batch`.
  std::function<void(const data_view& state, const message_version& at)> restore;
};

/// Which completions a client keeps for `versioned_group::take_completions`.
enum class completion_reports : std::uint8_t { none, failures, all };

/// How a client sends, and how much of it at a time.
struct versioned_group_options {
  /// How messages get to the replicas.
  versioning scheme = versioning::one_hop_ack_client;
  /// Members that the group must have before anything is sent; at least 1.
  std::size_t replicas = 1;
  /// Messages sent and not acknowledged at most; at least 1.
  std::size_t window_messages = 1'000;
  /// Their size at most, in bytes as encoded; at least 1; one message always has room.
  std::size_t window_bytes = std::size_t{64} << 20;
  /// The longest value taken, in bytes as encoded; at least 1.
  std::size_t max_message_bytes = std::size_t{16} << 20;
  /// A message that is not acknowledged after this time is given up; 1 ns to a year.
  std::chrono::nanoseconds timeout = std::chrono::seconds{10};
  /// Which messages that were posted `versioned_group::take_completions` reports.
  completion_reports reports = completion_reports::failures;
};

/// Of one replica, since it was opened.
struct replica_counters {
  std::uint64_t handed_out = 0; ///< messages, void ones included
  std::uint64_t voids = 0;      ///< of those: numbers whose client was lost before it sent
  std::uint64_t numbered = 0;   ///< messages that got their version here
  std::uint64_t elections = 0;  ///< epochs in which this replica became the sequencer
  std::uint64_t fetched = 0;    ///< messages that the sequencer has sent again
  std::uint64_t refused = 0;    ///< messages of others that were malformed or of a past epoch
};

/// Of one client, since it was opened: `sent == acknowledged + failed + in flight`.
struct versioned_group_counters {
  std::uint64_t sent = 0;
  std::uint64_t acknowledged = 0;
  std::uint64_t failed = 0;  ///< given up
  std::uint64_t batches = 0; ///< messages on the wire that carried them
  std::uint64_t resent = 0;  ///< of those, sent again
};

} // namespace pubsub
