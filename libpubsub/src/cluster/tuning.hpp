// Numbers that were chosen, and why.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>

namespace pubsub::cluster::tuning {

/// Messages that libzmq holds on the way to the proxy, and from it. The former is what `outgoing`
/// cannot drop any more; the latter is read at once, so it only evens out bursts.
inline constexpr int send_high_water_mark = 10'000;
inline constexpr int receive_high_water_mark = 100'000;
/// Messages taken from one socket, or from the endpoint, before the others have their turn.
inline constexpr std::size_t messages_a_turn = 1'000;
/// How often the subscriptions of the endpoint are looked at; and how much longer than such a look
/// the pause behind it is at least, so that a network with very many costs a twentieth of a
/// processor at most.
inline constexpr auto interest_interval = std::chrono::milliseconds{50};
inline constexpr int pause_per_look = 20;
/// libzmq does not say when there is room for a message again, so it is asked.
inline constexpr auto retry_interval = std::chrono::milliseconds{1};
/// For what has come from the endpoint before a member leaves.
inline constexpr auto time_to_send_rest = std::chrono::seconds{1};
/// Between attempts to reach the proxy; each is twice the one before.
inline constexpr auto first_reconnect_interval = std::chrono::milliseconds{100};
inline constexpr auto last_reconnect_interval = std::chrono::milliseconds{2'000};
/// How many times in a row that look may find something else than before and wait for more: each
/// change of what a WebSocket server is to bring takes a connection.
inline constexpr std::size_t max_unsettled_looks = 20;
/// What a WebSocket connection holds of messages before no more are taken for it; and how much of
/// that is handed to the kernel at once.
inline constexpr std::size_t max_waiting_bytes = 1024 * 1024;
inline constexpr std::size_t flush_bytes = 128 * 1024;
/// How long a member that leaves waits for the server's goodbye, and one that comes back for the
/// network to forget it.
inline constexpr auto goodbye_timeout = std::chrono::milliseconds{500};
/// For room in the queue of a WebSocket client towards its endpoint. Bursts are longer than small
/// queues, and the endpoint's thread may have to wait for a processor; a client that waits for
/// longer answers no pings, and the server keeps what comes meanwhile without bound.
inline constexpr auto time_for_room = std::chrono::milliseconds{100};
/// A server may find fault with every message.
inline constexpr auto pause_between_complaints = std::chrono::seconds{1};
/// A batch of logs ends with so many records, or at that age: what Zeek has unless scripts change
/// it.
inline constexpr std::size_t records_in_batch = 1'000;
inline constexpr auto longest_batch = std::chrono::seconds{1};
/// Batches that libzmq holds for each logger, which are lost with the connection to it.
inline constexpr int log_high_water_mark = 10;
/// A member that leaves waits so long for loggers that have not taken everything, as Zeek does.
inline constexpr auto time_for_last_logs = std::chrono::milliseconds{500};
/// The longest event or batch of logs that is taken.
inline constexpr std::size_t max_frame_bytes = 64 * 1024 * 1024;

/// Of this many seconds one at most is waited in vain for a reader.
inline constexpr int time_per_patience = 25;

// Of a proxy:
/// Messages of each publisher that wait inside, so that a short wait for a reader does not reach
/// the publishers; and subscriptions that wait for each publisher.
inline constexpr int publisher_high_water_mark = 10'000;
inline constexpr int subscription_high_water_mark = 100'000;
/// How long to wait at least when a queue is full, also where patience is used up: time in which
/// readers that do read get room, on a busy machine too.
inline constexpr auto least_patience = std::chrono::milliseconds{25};
/// At a time, before readers are looked at.
inline constexpr auto wait_for_readers = std::chrono::milliseconds{2};
/// How often slow readers are looked at.
inline constexpr auto slow_reader_interval = std::chrono::milliseconds{10};
/// A host that is gone without a word is noticed after 30 + 6 * 10 seconds.
inline constexpr int keepalive_idle_s = 30;
inline constexpr int keepalive_interval_s = 10;
inline constexpr int keepalive_probes = 6;
/// As many as Zeek's own proxy has.
inline constexpr int proxy_io_threads = 2;

} // namespace pubsub::cluster::tuning
