// What version 2 adds to version 1: frames of many messages (docs/wire-format.md).
// Pure: bytes in, bytes out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "message/message_run.hpp"
#include "message/record.hpp"

namespace pubsub::wire {

/// The highest version this library speaks.
inline constexpr std::uint8_t newest_version = 2;

/// Set in the length of a version-2 frame; version-1 frames are shorter than that.
inline constexpr std::uint32_t batch_flag = 0x8000'0000;

enum class batch_kind : std::uint8_t { records = 1, topics = 2 };

/// Length, kind and everything else in front of the records.
inline constexpr std::size_t batch_header_bytes = 40;
/// Tables a link may have in use; numbers are below it.
inline constexpr std::uint16_t max_tables = 1024;

struct batch_header {
  std::uint16_t table = 0;
  std::uint32_t messages = 0;
  run_origin origin;
};

/// A parsed batch; `records` lies in the frame.
struct batch_view {
  batch_header header;
  std::span<const std::byte> records;
};

/// Topics with numbers from `first` on, for `table`. With `first` 0 they replace what it held.
struct topics_view {
  std::uint16_t table = 0;
  std::uint8_t first = 0;
  std::vector<std::string_view> topics;
};

/// Writes the 40 bytes in front of `records_bytes` bytes of records.
void write_batch_header(std::byte* out, const batch_header& header,
                        std::size_t records_bytes) noexcept;
/// Whole frame, length included: the topics of `from` with numbers from `first` to below `end`.
std::vector<std::byte> make_topics(std::uint16_t table, const topic_table& from, std::size_t first,
                                   std::size_t end);

/// The kind of a version-2 frame. Nothing if unknown.
std::optional<batch_kind> kind_of(std::span<const std::byte> frame_payload) noexcept;
/// Parses the payload of a frame of kind `records`. Nothing if it is too short, names no table, or
/// holds no message. The records themselves are not looked at.
std::optional<batch_view> parse_batch(std::span<const std::byte> frame_payload) noexcept;
/// Parses the payload of a frame of kind `topics`. Nothing if malformed, or if numbers run out.
std::optional<topics_view> parse_topics(std::span<const std::byte> frame_payload);

/// What a look at the records of a batch shows.
enum class records_check : std::uint8_t { malformed, one_topic, several_topics };

/// Whether `records` are exactly `messages` records whose topics are below `topics`.
records_check check_records(std::span<const std::byte> records, std::uint32_t messages,
                            std::size_t topics) noexcept;

} // namespace pubsub::wire
