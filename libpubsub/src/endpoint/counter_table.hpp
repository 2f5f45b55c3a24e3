// Every counter with its name in the status (JSON) and in metrics (Prometheus), and what it means.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <pubsub/counters.hpp>

namespace pubsub {

/// Neighbours in a table that have the same family differ in their reason, and one text is for all
/// of them. A family that ends in `_total` only rises; others rise and fall.
template <class Counters>
struct counter_description {
  std::uint64_t Counters::*value;
  std::string_view member; ///< of the JSON object
  std::string_view family; ///< without what is in front of all families of the table
  std::string_view reason; ///< a label; empty: the family has none
  std::string_view help;   ///< said once for a family
};

/// Of one kind of counters all numbers, in the order of the status.
template <class Counters>
inline constexpr std::array<counter_description<Counters>, 0> counter_table{};

template <>
inline constexpr auto
    counter_table<link_counters> = std::to_array<counter_description<link_counters>>({
        {&link_counters::offered, "offered", "offered_messages_total", "",
         "Messages that matched the filter of the peer. At any time offered = sent + dropped + "
         "queued."},
        {&link_counters::sent, "sent", "sent_messages_total", "",
         "Messages written to the socket."},
        {&link_counters::queued, "queued", "queued_messages", "",
         "Messages that wait to be written now. Near the capacity the peer, or the way to it, is "
         "too slow."},
        {&link_counters::dropped_oldest, "dropped_oldest", "dropped_messages_total", "oldest",
         "Messages lost. oldest, newest: the queue was full, with the policy of that name; "
         "conflated: replaced by a newer one of the topic; overflow: the queue was full, with the "
         "policy disconnect; gone: the peer went away first."},
        {&link_counters::dropped_newest, "dropped_newest", "dropped_messages_total", "newest", ""},
        {&link_counters::dropped_gone, "dropped_gone", "dropped_messages_total", "gone", ""},
        {&link_counters::conflated, "conflated", "dropped_messages_total", "conflated", ""},
        {&link_counters::dropped_overflow, "dropped_overflow", "dropped_messages_total", "overflow",
         ""},
        {&link_counters::received, "received", "received_messages_total", "",
         "Messages read from the peer."},
        {&link_counters::bytes_sent, "bytes_sent", "sent_bytes_total", "",
         "Bytes written to the socket, those of the protocol included."},
        {&link_counters::bytes_received, "bytes_received", "received_bytes_total", "",
         "Bytes read from the socket, those of the protocol included."},
        {&link_counters::credit_waits, "credit_waits", "credit_waits_total", "",
         "Times that messages had to wait because the peer had given no credit for more: a queue "
         "there, or beyond, is full. 0 towards peers of version 1, which read no more instead."},
    });

template <>
inline constexpr auto
    counter_table<subscriber_counters> = std::to_array<counter_description<subscriber_counters>>({
        {&subscriber_counters::offered, "offered", "offered_messages_total", "",
         "Messages that matched the filter. At any time offered = delivered + dropped + filtered + "
         "queued."},
        {&subscriber_counters::delivered, "delivered", "delivered_messages_total", "",
         "Messages handed to the consumer."},
        {&subscriber_counters::queued, "queued", "queued_messages", "",
         "Messages that wait for the consumer now. Near the capacity it is too slow."},
        {&subscriber_counters::dropped_oldest, "dropped_oldest", "dropped_messages_total", "oldest",
         "Messages lost. oldest, newest: the queue was full, with the policy of that name; "
         "conflated: replaced by a newer one of the topic; overflow: the queue was full, with the "
         "policy disconnect; undecodable: not a valid value; closed: the subscriber was closed "
         "first."},
        {&subscriber_counters::dropped_newest, "dropped_newest", "dropped_messages_total", "newest",
         ""},
        {&subscriber_counters::decode_errors, "decode_errors", "dropped_messages_total",
         "undecodable", ""},
        {&subscriber_counters::dropped_closed, "dropped_closed", "dropped_messages_total", "closed",
         ""},
        {&subscriber_counters::conflated, "conflated", "dropped_messages_total", "conflated", ""},
        {&subscriber_counters::dropped_overflow, "dropped_overflow", "dropped_messages_total",
         "overflow", ""},
        {&subscriber_counters::filtered, "filtered", "filtered_messages_total", "",
         "Messages that did not fulfil the condition of the subscriber: it did not want them."},
        {&subscriber_counters::missed, "missed", "missed_messages_total", "",
         "Messages that were published but never arrived here: numbers missing in streams."},
        {&subscriber_counters::restarts, "restarts", "restarted_streams_total", "",
         "Streams that began again: their publisher has restarted under the same id."},
    });

template <>
inline constexpr auto
    counter_table<endpoint_counters> = std::to_array<counter_description<endpoint_counters>>({
        {&endpoint_counters::published, "published", "published_messages_total", "",
         "Messages taken from publishers of this node, unwanted and lossy ones included."},
        {&endpoint_counters::unwanted, "unwanted", "unwanted_messages_total", "",
         "Of the published messages, those on topics without subscribers."},
        {&endpoint_counters::dropped, "dropped", "lossy_messages_total", "",
         "Of the published messages, those that a full queue did not take without loss; the "
         "dropped messages of links and subscribers say what was lost."},
        {&endpoint_counters::would_block, "would_block", "blocked_publishes_total", "",
         "Attempts to publish given up: a queue was full until the deadline."},
        {&endpoint_counters::refused_topic, "refused_topic", "refused_messages_total", "topic",
         "Messages not taken from publishers of this node. topic: reserved or too long; size: "
         "longer than a frame may be; closed: the node was closed; empty: no value."},
        {&endpoint_counters::refused_size, "refused_size", "refused_messages_total", "size", ""},
        {&endpoint_counters::refused_closed, "refused_closed", "refused_messages_total", "closed",
         ""},
        {&endpoint_counters::refused_empty, "refused_empty", "refused_messages_total", "empty", ""},
        {&endpoint_counters::received, "received", "received_messages_total", "",
         "Messages read from peers."},
        {&endpoint_counters::forwarded, "forwarded", "forwarded_messages_total", "",
         "Messages passed on from one peer to another, counted for each peer they went to."},
        {&endpoint_counters::ttl_expired, "ttl_expired", "undeliverable_messages_total",
         "ttl_expired",
         "Messages that went no further. ttl_expired: their hop limit was used up; unreachable: no "
         "path led to a node they were for; no_subscriber: they were for subscribers here, and "
         "there were none."},
        {&endpoint_counters::unreachable, "unreachable", "undeliverable_messages_total",
         "unreachable", ""},
        {&endpoint_counters::no_subscriber, "no_subscriber", "undeliverable_messages_total",
         "no_subscriber", ""},
        {&endpoint_counters::duplicates, "duplicates", "duplicate_messages_total", "",
         "Messages that came again, or behind later ones of their stream, and went no further."},
        {&endpoint_counters::withheld, "withheld", "withheld_messages_total", "",
         "Messages not sent to a peer because they fulfil no condition of the subscribers behind "
         "it, counted for each such peer."},
        {&endpoint_counters::screened_out, "screened_out", "screened_out_messages_total", "",
         "Messages of peers that the rules of this node did not let pass."},
        {&endpoint_counters::denied, "denied", "access_denied_total", "",
         "What access rules have refused: connections, messages, subscriptions, reports."},
        {&endpoint_counters::limited, "limited", "access_limited_total", "",
         "What limits of access rules have refused or held back: connections, links cut, pauses."},
        {&endpoint_counters::malformed_frames, "malformed_frames", "malformed_frames_total", "",
         "Frames from peers that were no valid message."},
        {&endpoint_counters::silent_peers, "silent_peers", "silent_peers_total", "",
         "Links cut because nothing was heard from the peer."},
    });

// A counter that the table lacks breaks the build here.
static_assert(counter_table<link_counters>.size() * sizeof(std::uint64_t) == sizeof(link_counters));
static_assert(counter_table<subscriber_counters>.size() * sizeof(std::uint64_t) ==
              sizeof(subscriber_counters));
static_assert(counter_table<endpoint_counters>.size() * sizeof(std::uint64_t) +
                  sizeof(link_counters) + sizeof(subscriber_counters) ==
              sizeof(endpoint_counters));

} // namespace pubsub
