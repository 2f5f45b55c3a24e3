// What the metadata of a channel says about the origin of its messages, and topics in UTF-8.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pubsub::record {

inline constexpr const char* origin_name = "origin"; ///< id of the endpoint
inline constexpr const char* stream_name = "stream";
inline constexpr const char* upper_half_name = "sequence_upper_half"; ///< not there: 0
/// The topic in hexadecimal digits, where it is not UTF-8 and so not what the channel says.
inline constexpr const char* topic_bytes_name = "topic_hex";

/// Metadata records: a gap, and what a file says about itself.
inline constexpr std::string_view gap_name = "pubsub.gap";
inline constexpr std::string_view about_name = "pubsub.recording";

/// The text in UTF-8: what is not becomes U+FFFD.
std::string readable(std::string_view text);
std::string to_hex(std::string_view bytes);
/// Nothing where the text is no such thing.
std::optional<std::string> from_hex(std::string_view digits);

} // namespace pubsub::record
