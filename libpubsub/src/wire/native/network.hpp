// Frames of version 2 about the network (docs/wire-format.md). Pure: bytes in, bytes
// out.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "route/reports.hpp"
#include "wire/native/frames.hpp"

namespace pubsub::wire {

/// Whole frames, length included.
std::vector<std::byte> make_report(const neighbours_report& report);
std::vector<std::byte> make_report(const filter_report& report);
/// All that was known when the link began has been reported.
std::vector<std::byte> make_known();

std::vector<std::byte> make_question(const filter_question& x);
std::vector<std::byte> make_answer(const filter_answer& x);
std::vector<std::byte> make_interest(const topic_interest& x);
std::vector<std::byte> make_wanted(const topic_interest& x);
/// A client tells the relay that serves it first; a relay answers with that id while it reaches it,
/// else with the nil id.
std::vector<std::byte> make_served(const endpoint_id& by);
/// So many relays a client may name at once.
inline constexpr std::size_t max_relays_named = 16;
/// A client tells its relays which they are: at most `max_relays_named`.
std::vector<std::byte> make_relays(const std::vector<endpoint_id>& all);
std::vector<std::byte> make_flush(const flush_request& x);
std::vector<std::byte> make_flushed(const flush_answer& x);

/// Parse the payload of a frame of the kind in question. Nothing if malformed.
std::optional<neighbours_report> parse_neighbours(std::span<const std::byte> frame_payload);
std::optional<filter_report> parse_filter_report(std::span<const std::byte> frame_payload);
std::optional<filter_question> parse_question(std::span<const std::byte> frame_payload);
std::optional<filter_answer> parse_answer(std::span<const std::byte> frame_payload);
/// Of a frame of kind `interest` or `wanted`.
std::optional<topic_interest> parse_interest(std::span<const std::byte> frame_payload);
std::optional<endpoint_id> parse_served(std::span<const std::byte> frame_payload);
std::optional<std::vector<endpoint_id>> parse_relays(std::span<const std::byte> frame_payload);
std::optional<flush_request> parse_flush(std::span<const std::byte> frame_payload);
std::optional<flush_answer> parse_flushed(std::span<const std::byte> frame_payload);

} // namespace pubsub::wire
