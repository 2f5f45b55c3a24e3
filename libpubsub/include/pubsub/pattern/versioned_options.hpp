// Versioned delivery: which way versions and acknowledgements take, and how much waits
// (article 002).
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

namespace pubsub {

/// How a message gets to the replicas, and its version. One replica stamps at a time: it is the
/// first server of the article.
enum class versioning : std::uint8_t {
  none, ///< to all, each acknowledges: no version, no order, no promise; what others compare with
  version_request,         ///< asks for a version, then sends to all
  message_returns_version, ///< sends to the first, which returns the version; then to the others
  one_hop,                 ///< the first stamps and forwards, and acknowledges for all
  one_hop_ack_client,      ///< the first stamps and forwards, each acknowledges to the client
  tagged, ///< to all, and names the first: it sends the version to the others, each acknowledges
};

inline constexpr versioning all_versionings[] = {
    versioning::none,    versioning::version_request,    versioning::message_returns_version,
    versioning::one_hop, versioning::one_hop_ack_client, versioning::tagged};

/// The name of the enumerator, e.g. `one_hop`.
std::string_view to_string(versioning x) noexcept;
/// Errors: invalid_argument, no scheme has this name.
expected<versioning> parse_versioning(std::string_view name);

/// Which message this is for all replicas. Numbers begin with 1 and are contiguous over all epochs;
/// the epoch grows when another replica takes over stamping. Number 0: none.
struct message_version {
  std::uint64_t epoch = 0;
  std::uint64_t number = 0;

  friend auto operator<=>(const message_version&, const message_version&) = default;
};

/// `2.1041`: epoch and number.
std::string to_string(const message_version& x);

/// What a replica is for its group.
enum class replica_state : std::uint8_t {
  joining,     ///< it looks for others: a new group begins once `group_size` replicas are there
  catching_up, ///< it fetches what it has missed
  counting,    ///< no send completes without it
  closed,
};

/// The name of the enumerator, e.g. `catching_up`.
std::string_view to_string(replica_state x) noexcept;

struct replica_options {
  /// Its name in the group, which nobody else has while it lives; empty: made from a random id.
  std::string id;
  /// Servers the group was planned with, the same for all; at least 1. A new group begins with so
  /// many; afterwards more than half of them must count, and a replica that is lost is replaced by
  /// another one, or by itself once it is back.
  std::size_t group_size = 3;
  /// What is kept, at most, of what was handed out, for those that come late.
  std::size_t history_messages = 1'000'000;
  std::size_t history_bytes = std::size_t{256} << 20;
  /// A replica that says nothing for so long is lost. At least 50 ms.
  std::chrono::milliseconds silence{2'000};
  /// For those that come later than history goes back. Both are called by the thread that is in
  /// `get` or `get_batch`: what was handed out before is done. The state after that;
  std::function<data()> snapshot;
  /// takes the state over, as of this version, in place of all messages up to it.
  std::function<void(const data_view& state, const message_version& at)> restore;
};

/// Which completions a client keeps for `versioned_group::take_completions`.
enum class completion_reports : std::uint8_t { none, failures, all };

struct versioned_group_options {
  versioning scheme = versioning::one_hop_ack_client;
  /// So many replicas must count before anything is sent; at least 1.
  std::size_t replicas = 1;
  /// Messages sent and not acknowledged; at least 1.
  std::size_t window_messages = 1'000;
  /// Bytes of those; one message always has room.
  std::size_t window_bytes = std::size_t{64} << 20;
  /// The longest value taken, in bytes as encoded.
  std::size_t max_message_bytes = std::size_t{16} << 20;
  /// A message that is not acknowledged by then is given up.
  std::chrono::milliseconds timeout{10'000};
  /// Of messages that were posted.
  completion_reports reports = completion_reports::failures;
};

/// One replica. Counted since it was made.
struct replica_counters {
  std::uint64_t handed_out = 0; ///< messages, void ones included
  std::uint64_t voids = 0;      ///< of those: numbers whose client was lost before it sent
  std::uint64_t stamped = 0;    ///< messages that got their version here
  std::uint64_t elections = 0;  ///< epochs that began here
  std::uint64_t fetched = 0;    ///< messages that came as a repetition
  std::uint64_t refused = 0;    ///< messages of others, malformed or of a past epoch
};

/// One client. `sent == acknowledged + failed + in flight`.
struct versioned_group_counters {
  std::uint64_t sent = 0;
  std::uint64_t acknowledged = 0;
  std::uint64_t failed = 0;  ///< given up
  std::uint64_t batches = 0; ///< messages that carried them
  std::uint64_t resent = 0;  ///< of those, sent again
};

} // namespace pubsub
