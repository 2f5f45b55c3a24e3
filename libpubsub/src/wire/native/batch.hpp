// What version 2 adds to version 1: frames of many messages (docs/wire-format.md).
// Pure: bytes in, bytes out.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "message/message_run.hpp"
#include "wire/native/frames.hpp"

namespace pubsub::wire {

/// Length, kind and everything else in front of the records.
inline constexpr std::size_t batch_header_bytes = 40;
/// Tables a link may have in use; numbers are below it.
inline constexpr std::uint16_t max_tables = 1024;

/// Messages are counted by the hops they have come so far: 0 to 15.
inline constexpr std::size_t max_hops = 16;
/// How many bytes of records, for each number of hops, may be sent before the first credit comes.
inline constexpr std::uint32_t first_credit_bytes = 512 * 1024;

/// The hops a batch has come so far, from what its header says is left.
inline std::size_t hops_come(std::uint8_t hops_left) noexcept {
  return hops_left > max_hops ? 0 : std::min<std::size_t>(max_hops - hops_left, max_hops - 1);
}

struct credit {
  std::uint8_t hops = 0;
  std::uint32_t bytes = 0;
};

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

/// Node and filter number, and the client where one is addressed.
void write_destination(frame_writer& out, const destination& x);
bool read_destination(byte_reader& in, destination& x);
/// In n log n steps, whatever a peer has written.
bool names_a_node_twice(const std::vector<destination>& all);

/// A topic and the nodes its messages are for.
struct announced_topic {
  std::string text;
  std::vector<destination> destinations;

  std::size_t bytes() const noexcept {
    return sizeof(announced_topic) + text.size() + destinations.size() * sizeof(destination);
  }
};

/// Topics with numbers from `first` on, for `table`. With `first` 0 they replace what it held.
struct topics_news {
  std::uint16_t table = 0;
  std::uint8_t first = 0;
  std::vector<announced_topic> topics;
};

/// Writes the 40 bytes in front of `records_bytes` bytes of records.
void write_batch_header(std::byte* out, const batch_header& header,
                        std::size_t records_bytes) noexcept;
/// Whole frame, length included: the topics of `from` with numbers from `first` to below `end`,
/// with those of their nodes that are reached over `via`.
std::vector<std::byte> make_topics(std::uint16_t table, const topic_table& from, std::size_t first,
                                   std::size_t end, const void* via);

/// Parses the payload of a frame of kind `records`. Nothing if it is too short, names no table, has
/// too many hops left, or holds no message. The records themselves are not looked at.
std::optional<batch_view> parse_batch(std::span<const std::byte> frame_payload) noexcept;
/// Parses the payload of a frame of kind `topics`. Nothing if malformed, if numbers run out, or if
/// a topic names a node twice, which would get its messages twice.
std::optional<topics_news> parse_topics(std::span<const std::byte> frame_payload);

/// Of which relay the publisher of the messages is a client.
struct entry_news {
  std::uint16_t table = 0;
  endpoint_id relay;
};

/// Follows the first topics of the table.
std::vector<std::byte> make_entry(const entry_news& x);
/// Parses the payload of a frame of kind `entry`. Nothing if malformed.
std::optional<entry_news> parse_entry(std::span<const std::byte> frame_payload);

std::vector<std::byte> make_credit(credit x);
/// Parses the payload of a frame of kind `credit`. Nothing if malformed.
std::optional<credit> parse_credit(std::span<const std::byte> frame_payload) noexcept;

/// What a look at the records of a batch shows.
enum class records_check : std::uint8_t { malformed, one_topic, several_topics };

/// Whether `records` are exactly `messages` records whose topics are below `topics`.
records_check check_records(std::span<const std::byte> records, std::uint32_t messages,
                            std::size_t topics) noexcept;

} // namespace pubsub::wire
