// Small pieces of text that Zeek's logs are made of.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <pubsub/data.hpp>

namespace pubsub::zeek {

/// Seconds in decimal notation, exponent allowed, as nanoseconds: exact, never through double; what
/// lies below a nanosecond rounds half away from zero. Nothing if it is no number or does not fit.
std::optional<std::int64_t> parse_seconds(std::string_view text);

/// The text with `\xNN` and `\\` undone; any other backslash stands for itself.
std::string unescape(std::string_view text);

/// Text in quotes for an error message: shortened, unprintable bytes as `\xNN`.
std::string excerpt(std::string_view text);

/// tcp, udp, icmp (any case); everything else is unknown.
transport parse_transport(std::string_view text);

/// `2.0 mins 1.5 secs`: numbers with units from usecs to days. Nothing for any other text.
std::optional<timespan> parse_duration(std::string_view text);

/// `2023-11-14T22:13:20.000001Z`, as Zeek writes times into JSON logs on request.
std::optional<timestamp> parse_iso_time(std::string_view text);

} // namespace pubsub::zeek
