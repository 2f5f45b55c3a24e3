// Numbers and strings as they stand in logs that Zeek writes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <pubsub/data.hpp>
#include <pubsub/value/address.hpp>
#include <pubsub/value/time.hpp>

namespace pubsub::zeek {

/// How Zeek holds times and intervals: the double next to the exact number of seconds. Of a time of
/// our days it tells microseconds apart, and no nanoseconds.
double seconds_of(timespan x);

/// A time or an interval in a TSV log: seconds with six digits behind the point.
void add_seconds(std::string& out, double seconds);
/// A double in a TSV log: at most six digits behind the point, at least one, never an exponent.
void add_real(std::string& out, real x);
/// A double in a JSON log: the shortest digits that give the same number; null for what JSON has no
/// number for. (Of one number in a thousand or so Zeek writes one or two digits more: it does not
/// always find the shortest.)
void add_json_real(std::string& out, real x);
/// `2023-11-14T22:13:20.000001Z`.
void add_iso_time(std::string& out, double seconds);

/// An address, and the one of a subnet: as everywhere, but for IPv6 addresses that embed an IPv4
/// address (`::192.0.2.1`, `::ffff:0:192.0.2.1`).
void add_address(std::string& out, const address& x);

enum class place : std::uint8_t { column, container };

/// A string in a TSV log. Backslashes, tabs, and within a set or vector commas are escaped. A piece
/// between these in which every byte is part of a printable character stays as it is; of any other
/// piece all bytes but printable ASCII become `\xNN`.
void add_escaped(std::string& out, std::string_view text, place where);
/// What a header says of a log, such as its path: printable ASCII without white space stays as it
/// is.
void add_header_text(std::string& out, std::string_view text);
/// A string in a JSON log, in quotes. Bytes that are no printable UTF-8 become the text `\xNN`, as
/// in TSV; the control characters for which JSON has a letter stay.
void add_json_text(std::string& out, std::string_view text);

} // namespace pubsub::zeek
