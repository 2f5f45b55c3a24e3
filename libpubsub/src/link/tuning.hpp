// The tuned numbers of this room, each with its unit and its reason.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace pubsub::link_tuning {

/// Bytes of a read buffer. A relay hands on slices of it, so that few large reads cost least.
inline constexpr std::size_t read_chunk_bytes = 256 * 1024;
/// Those of the first one, and how much longer the next is where a read has filled all the room:
/// most peers of a relay say little, and there are thousands of them.
inline constexpr std::size_t first_chunk_bytes = 2 * 1024;
inline constexpr std::size_t chunk_growth = 8;
/// A new buffer is begun where less than this part of one is left: smaller reads cost more than the
/// copy of a frame's beginning.
inline constexpr std::size_t reads_per_chunk = 16;
/// Bytes that are reserved for a frame on the strength of its announced length alone.
inline constexpr std::size_t believed_bytes = 1024 * 1024;
/// Slices of one gathered write: beyond the number of pieces that a kernel takes at once, more
/// bring nothing.
inline constexpr std::size_t max_slices_per_write = 64;
/// Bytes of one gathered write, about: enough to fill a socket, and little to encode in vain.
inline constexpr std::size_t max_bytes_per_write = 1024 * 1024;
/// Bytes of a batch that is always allowed: a run of small messages (message/slab.hpp) and its
/// header.
inline constexpr std::uint32_t max_batch_bytes = 64 * 1024 + 64;
/// Bytes of a link's own headers: what is kept for them at first, enough for a topic and a batch,
/// and what one piece of them grows to.
inline constexpr std::size_t first_written_bytes = 256;
inline constexpr std::size_t most_written_bytes = 64 * 1024;
/// How long a link has been idle before a publisher writes itself. Longer than it takes a publisher
/// under load to come with the next message, so that only those write themselves that have the time
/// (`pubsub bench latency`).
inline constexpr std::chrono::microseconds idle_before_writing_at_once{20};
/// Links that one thread writes to like this, one after the other. The loops of the rest are awake
/// before it would have come to them, and write at the same time.
inline constexpr unsigned most_links_written_at_once = 8;
/// A message that goes over more links is written by their loops together, so many links at a time
/// (link/written_together.hpp): few enough that what else waits at a loop has its turn soon.
inline constexpr std::size_t links_written_together = 32;
/// Topics of one announcement, each of up to 64 KiB.
inline constexpr std::size_t most_topics_per_frame = 8;
/// Bytes a peer may send beyond its credit: a sender with any credit left may begin another batch,
/// and those of earlier releases gather several for one write.
inline constexpr std::uint64_t most_overdraft_bytes = max_bytes_per_write;
/// Bytes that are read at once from a peer that has had no credit back yet, and how long it rests
/// then while a queue that it fills is full. Every connection comes with credit, so that one who
/// connects again and again could fill queues that others wait for.
inline constexpr std::size_t first_read_bytes = 16 * 1024;
inline constexpr std::chrono::milliseconds rest_of_new_peers{100};
/// Bytes of news about the network that may wait for a peer before its link is closed: some whole
/// maps of 65,536 nodes.
inline constexpr std::size_t max_unread_news_bytes = 64 * 1024 * 1024;
/// Bytes of answers that may wait for a peer before its link is closed.
inline constexpr std::size_t max_unread_answer_bytes = 1024 * 1024;
/// Bytes of credit that are remembered; a peer that grants more gains nothing.
inline constexpr std::int64_t most_credit_bytes = std::int64_t{1} << 40;

} // namespace pubsub::link_tuning
