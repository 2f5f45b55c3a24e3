// The tuned constants of versioned delivery. Times of the protocol follow from
// `replica_options::liveness_timeout` where they can; the others were set so that
// `pubsub bench versioned` and the fault scenario `versioned` gain nothing from other values.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <pubsub/pattern/versioned_options.hpp>

namespace pubsub::pattern {

using time_point = std::chrono::steady_clock::time_point;

namespace tuning {

using std::chrono::milliseconds;
using std::chrono::seconds;
using duration = std::chrono::nanoseconds;

/// Numbers of epochs by which others may be ahead: far more elections than there can be while a
/// replica is away, and far fewer than there are numbers.
inline constexpr std::uint64_t most_epochs_ahead = 1'000'000;

// -- a replica -----------------------------------------------------------------------------------

constexpr duration replica_tick =
    milliseconds{50};                           // between looks at the clock where nothing is due
constexpr duration ack_delay = milliseconds{1}; // the leader hears of many records at once
constexpr duration gap_patience = milliseconds{30};     // reordering by another path is no loss
constexpr duration between_fetches = milliseconds{100}; // the answer to one is under way
constexpr duration after_hello = milliseconds{10};      // one status answers many clients
constexpr duration longest_barrier =
    milliseconds{500};                            // a joining replica stops all senders no longer
constexpr duration between_barriers = seconds{1}; // and not again soon
constexpr std::uint64_t close_behind = 4'096;     // numbers that a replica may lack when it joins
constexpr std::size_t most_bodies = 4'096;        // tagged batches of which one half is kept
constexpr std::size_t most_bodies_bytes = std::size_t{64} << 20;
constexpr std::size_t most_repeated_bytes = 256 * 1024; // in the answer to one fetch
constexpr std::size_t most_repeated_entries = 512;
constexpr std::size_t most_waiting = 200'000; // messages to hand out: then nothing is read
constexpr std::size_t most_waiting_bytes = std::size_t{512} << 20;
constexpr std::size_t most_clients = 65'536; // whose numbers a replica remembers
constexpr std::size_t most_recent_runs = 64; // of a client, which has fewer batches under way
constexpr duration shortest_liveness_timeout =
    milliseconds{50}; // a scheduler may stop a process for less
constexpr duration longest_time = std::chrono::hours{24 * 365}; // in options: sums do not overflow

/// A replica that was silent for so many times as long as one that is alive may be is forgotten.
constexpr int times_forgotten = 30;

/// A member is alive if one of five statuses in a row arrives.
inline duration between_statuses(const replica_options& options) {
  return std::clamp<duration>(options.liveness_timeout / 5, milliseconds{10}, milliseconds{200});
}
/// How long a candidate waits for promises, and the next candidate for it.
inline duration election(const replica_options& options) {
  return std::max<duration>(options.liveness_timeout / 8, milliseconds{50});
}

// -- a client ------------------------------------------------------------------------------------

constexpr duration client_tick = milliseconds{50};
constexpr duration between_hellos = milliseconds{100};
constexpr duration leader_doubt = seconds{1};  // without a status: the client says hello again
constexpr duration leader_memory = seconds{3}; // without a status: another group may take the name
constexpr duration repeat_after =
    milliseconds{200}; // without an acknowledgement; doubled each time
constexpr unsigned most_doublings = 4;
constexpr duration retry_after = milliseconds{1}; // a link did not take a batch
constexpr std::size_t most_batch_messages = 1'000;
constexpr std::size_t most_batch_bytes = 64 * 1024;
constexpr std::size_t most_under_way = 16;          // full batches
constexpr std::size_t most_small_under_way = 2;     // a third one waits to be filled
constexpr std::size_t most_spare = 8;               // buffers that are kept for batches to come
constexpr std::size_t most_lists = 64;              // of members, that acknowledgements refer to
constexpr std::size_t most_completions = 1'000'000; // that the application has not taken

} // namespace tuning

} // namespace pubsub::pattern
