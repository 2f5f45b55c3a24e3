// Times and sizes on the command line, and those of recordings as text.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <CLI/App.hpp>

#include <pubsub/value/time.hpp>

namespace pubsub::tool {

/// A point in time, or one that counts from the beginning of a recording.
struct moment {
  timespan value{0}; ///< since 1970, or since the beginning
  bool relative = false;

  timestamp after(timestamp beginning) const {
    return relative ? beginning + value : timestamp{value};
  }
};

/// Reads `2026-01-31T12:00:00.5Z` (UTC; the fraction may be missing), seconds since 1970 such as
/// `1769860800.5`, or `+90` for 90 seconds after the beginning; nothing for other text.
std::optional<moment> parse_moment(std::string_view text);
/// Reads a length of time: seconds such as `90` or `0.5`, or with a unit `500ms`, `90s`, `10m`,
/// `2h`; nothing for other text, and for more than 30 years or so.
std::optional<timespan> parse_length(std::string_view text);
/// `2026-01-31T12:00:00.123456Z`.
std::string moment_text(timestamp x);
/// `735.2 MB`: powers of 1000.
std::string size_text(std::uint64_t bytes);
/// `12,345,678`.
std::string grouped(std::uint64_t x);

/// An option that takes a size such as `500000`, `64M` or `2G` (powers of 1000).
CLI::Option* add_size_option(CLI::App& command, const std::string& name, std::uint64_t& bytes,
                             const std::string& text);
/// An option that takes a length of time, as `parse_length` reads it, of at least `least`.
CLI::Option* add_length_option(CLI::App& command, const std::string& name, timespan& length,
                               const std::string& text, timespan least = timespan{1});

} // namespace pubsub::tool
