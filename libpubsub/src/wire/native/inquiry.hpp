// Frames of version 2 with which a node asks how others are, what they know, and where messages
// would go (docs/wire-format.md). Pure: bytes in, bytes out.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/trace.hpp>
#include <pubsub/value/endpoint_id.hpp>

#include "message/destinations.hpp"
#include "wire/native/batch.hpp"
#include "wire/native/frames.hpp"

namespace pubsub::wire {

/// The body of a reply is no longer than that: every receiver takes such a frame.
inline constexpr std::size_t max_reply_bytes = 256'000;
/// Why there is no answer is said in so many bytes.
inline constexpr std::size_t max_reason_bytes = 300;
/// A trace that names more nodes, or tells more remarks about one, is refused or cut.
inline constexpr std::size_t max_traced_hops = 4'096;
inline constexpr std::size_t max_remarks = 8;

enum class inquiry_subject : std::uint8_t {
  status = 1,  ///< how a node is
  network = 2, ///< the network as that node knows it
  trace = 3,   ///< where a message goes from the node that gets the inquiry
};

/// An inquiry, on its way to the node that it is about.
struct inquiry {
  std::uint32_t number = 0; ///< chosen by the node that asks its peer, returned with the reply
  inquiry_subject subject = inquiry_subject::status;
  std::uint8_t hops_left = max_hops; ///< one less at each node
  std::chrono::milliseconds time_left{0};
  std::uint32_t max_bytes = max_reply_bytes; ///< of the body of the reply
  endpoint_id node{};                        ///< that is asked; nil for a trace
  std::string topic{};                       ///< of a trace
  std::vector<destination> destinations{};   ///< of a trace, from a relay: those behind the link
};

enum class reply_outcome : std::uint8_t {
  answer = 0,
  not_told = 1,     ///< the node does not tell, or cannot
  not_allowed = 2,  ///< who asks has not the right to
  out_of_reach = 3, ///< no way leads to the node
  too_late = 4,     ///< no answer came in time
  busy = 5,         ///< too many answers are due to who asks
  lost = 6,         ///< the link was lost meanwhile
};

struct reply {
  std::uint32_t number = 0;
  reply_outcome outcome = reply_outcome::answer;
  /// Of the time it took, what the node that replies has waited for others.
  std::chrono::microseconds spent{0};
  /// An answer: JSON about a node or the network, or the hops of a trace. Else why there is none.
  std::string body{};
};

/// Whole frames, length included. Too long a body is the caller's mistake.
std::vector<std::byte> make_inquiry(const inquiry& x);
std::vector<std::byte> make_reply(const reply& x);

/// Parse the payload of a frame of the kind in question. Nothing if malformed.
std::optional<inquiry> parse_inquiry(std::span<const std::byte> frame_payload);
std::optional<reply> parse_reply(std::span<const std::byte> frame_payload);

/// As many of the hops as fit, as the body of a reply.
std::string write_hops(std::span<const trace_hop> hops, std::size_t max_bytes);
/// Nothing if malformed.
std::optional<std::vector<trace_hop>> read_hops(std::string_view body);

} // namespace pubsub::wire
