// The tuned constants of remote execution. Judged by `pubsub bench remote` for what operations
// cost, and by `pubsub bench remote-study` for what the automatic mode chooses.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>

#include "pattern/mailbox/tuning.hpp"

namespace pubsub::pattern::tuning {

/// Between tries to send where a link was full, requests and replies.
inline constexpr std::chrono::milliseconds time_between_tries{1};

// -- a client that sends -------------------------------------------------------------------------

/// Between looks at deadlines and silent instances.
inline constexpr std::chrono::milliseconds time_between_ticks{20};
/// The automatic mode chooses again after this time: a choice costs about 1 us.
inline constexpr std::chrono::milliseconds time_between_choices{2};
/// A request that is not full waits for more operations at most for this time: a few round trips
/// within a host.
inline constexpr std::chrono::microseconds time_for_more{200};
/// All bytes of a request have to come before its first operation begins: requests that share a
/// message have at most so many.
inline constexpr std::size_t most_bytes_together = 16 * 1024;
inline constexpr std::size_t requests_in_a_message = 32;

// -- what the automatic mode assumes -------------------------------------------------------------

/// One more request and its reply cost each side two messages, which may wake threads.
inline constexpr double seconds_of_a_request = 30e-6;
/// What one operation in a request costs the client: adding, encoding and completing it.
inline constexpr double seconds_of_a_call = 300e-9;
/// Bytes of a request: 64 KiB take a link of 40 Mb/s 13 ms.
inline constexpr double most_bytes_of_a_bulk = 64 * 1024;
/// This much work is in flight, or so many bytes of results, but at least so many results.
inline constexpr double shortest_horizon_s = 0.1;
inline constexpr double bytes_in_flight = 64 * 1024 * 1024.0;
inline constexpr double least_in_flight = 8;
/// Results of so many bytes and more go over several connections: 32 KiB take a link of 5 Gb/s
/// 50 us, about what one more request costs.
inline constexpr double long_result_bytes = 32 * 1024;

// -- what a client measures ----------------------------------------------------------------------

/// Of a new sample in an average.
inline constexpr double weight_of_a_sample = 0.1;
/// A message of so many bytes takes a slow link longer than its latency.
inline constexpr std::size_t long_message_bytes = 16 * 1024;

// -- an instance ---------------------------------------------------------------------------------

/// A worker looks for cancellations after an operation of this time: shorter ones gain nothing.
inline constexpr std::chrono::microseconds long_operation{25};
/// Results are collected for this time before they are sent: a message costs a tenth of it.
inline constexpr std::chrono::microseconds time_to_collect{100};
inline constexpr std::size_t bytes_to_collect = 256 * 1024;
/// Operations between two readings of the clock, at most.
inline constexpr std::size_t most_between_looks = 16;
/// A request is divided into this many parts for each worker: some take longer than others.
inline constexpr std::size_t parts_of_a_worker = 4;
/// A closing instance waits so long for clients that are behind with reading.
inline constexpr std::chrono::seconds time_to_close{1};
inline constexpr std::size_t most_clients = 10'000;
/// Bytes of replies that are kept for a client before its requests wait.
inline constexpr std::size_t most_kept_bytes = 4 << 20;

} // namespace pubsub::pattern::tuning
