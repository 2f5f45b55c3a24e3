// Scalars as text, appended to a string; shared by the text and the JSON format. What the JSON
// readers call is exported: they may be a shared library of their own.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <pubsub/export.hpp>
#include <pubsub/value/address.hpp>
#include <pubsub/value/port.hpp>
#include <pubsub/value/subnet.hpp>
#include <pubsub/value/time.hpp>

namespace pubsub {

PUBSUB_EXPORT void append_number(std::string& out, std::uint64_t x);
void append_number(std::string& out, std::int64_t x);
/// As C's `%f`: fixed notation with six decimals, `nan`, `inf`, `-inf`.
void append_real(std::string& out, double x);
void append_text(std::string& out, const address& x);
void append_text(std::string& out, const subnet& x);
void append_text(std::string& out, const port& x);

/// `YYYY-MM-DDThh:mm:ss.mmm` in UTC, truncated; the fraction is `.000` before 1970.
void append_iso_time(std::string& out, timestamp x);
/// An integer with the coarsest exact unit of ns, us, ms, s.
void append_span_with_unit(std::string& out, timespan x);

/// What append_iso_time writes, with up to nine fraction digits and an optional zone; nothing where
/// the text or a field in it is out of range.
PUBSUB_EXPORT std::optional<timestamp> parse_iso_time(std::string_view text) noexcept;
/// An integer with a unit of ns, us, ms, s, min, h.
PUBSUB_EXPORT std::optional<timespan> parse_span_with_unit(std::string_view text) noexcept;

/// `address/length` as Broker's JSON reader takes it: blanks and a sign before the length and
/// anything behind it are ignored, a length of 33..255 bits (IPv4) or 129..255 gives `::/0`.
PUBSUB_EXPORT std::optional<subnet> parse_lenient_subnet(std::string_view text);
/// `number/protocol` as Broker's JSON reader takes it: what it does not understand becomes 0 or
/// unknown, and the number is cut to 16 bits.
PUBSUB_EXPORT port parse_lenient_port(std::string_view text) noexcept;

} // namespace pubsub
