// The records of an MCAP file (https://mcap.dev/spec, version 0): as values, to bytes and back.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/byte_buffer.hpp"

namespace pubsub::record::mcap {

/// A file begins and ends with these bytes.
inline constexpr std::array<std::byte, 8> magic = {std::byte{0x89}, std::byte{'M'}, std::byte{'C'},
                                                   std::byte{'A'},  std::byte{'P'}, std::byte{'0'},
                                                   std::byte{'\r'}, std::byte{'\n'}};

enum class opcode : std::uint8_t {
  header = 0x01,
  footer = 0x02,
  schema = 0x03,
  channel = 0x04,
  message = 0x05,
  chunk = 0x06,
  message_index = 0x07,
  chunk_index = 0x08,
  statistics = 0x0b,
  metadata = 0x0c,
  metadata_index = 0x0d,
  summary_offset = 0x0e,
  data_end = 0x0f,
};

/// In front of the content of each record: one byte of opcode, eight of length.
inline constexpr std::size_t record_head_bytes = 9;
/// In front of the payload of a message: channel, sequence, log time and publish time.
inline constexpr std::size_t message_head_bytes = 22;
inline constexpr std::size_t footer_bytes = 20;
/// Footer record and magic.
inline constexpr std::size_t tail_bytes = record_head_bytes + footer_bytes + magic.size();

using text_map = std::map<std::string, std::string, std::less<>>;

struct schema {
  std::uint16_t id = 0;
  std::string_view name;
  std::string_view encoding;
  std::span<const std::byte> content;
};

struct channel {
  std::uint16_t id = 0;
  std::uint16_t schema_id = 0;
  std::string topic;
  std::string encoding;
  text_map metadata;
};

struct message {
  std::uint16_t channel_id = 0;
  std::uint32_t sequence = 0;
  std::uint64_t log_time = 0;
  std::uint64_t publish_time = 0;
  std::span<const std::byte> payload;
};

struct chunk {
  std::uint64_t first_time = 0;
  std::uint64_t last_time = 0;
  std::uint64_t uncompressed_bytes = 0;
  std::uint32_t crc = 0; ///< of the uncompressed records; 0: not known
  std::string_view compression;
  std::span<const std::byte> records; ///< as they are stored
};

struct chunk_index {
  std::uint64_t first_time = 0;
  std::uint64_t last_time = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0; ///< head included
  /// Where the index of each channel's messages lies in the file.
  std::vector<std::pair<std::uint16_t, std::uint64_t>> message_indexes;
  std::uint64_t message_index_bytes = 0;
  std::string compression;
  std::uint64_t compressed_bytes = 0;
  std::uint64_t uncompressed_bytes = 0;
};

struct statistics {
  std::uint64_t messages = 0;
  std::uint16_t schemas = 0;
  std::uint32_t channels = 0;
  std::uint32_t attachments = 0;
  std::uint32_t metadata = 0;
  std::uint32_t chunks = 0;
  std::uint64_t first_time = 0;
  std::uint64_t last_time = 0;
  std::map<std::uint16_t, std::uint64_t> messages_of; ///< by channel
};

struct metadata {
  std::string name;
  text_map entries;
};

struct metadata_index {
  std::uint64_t offset = 0;
  std::uint64_t length = 0; ///< head included
  std::string name;
};

struct footer {
  std::uint64_t summary_start = 0; ///< 0: there is no summary
  std::uint64_t summary_offset_start = 0;
  std::uint32_t crc = 0; ///< 0: not known
};

// -- writing: each appends a whole record ----------------------------------------------------

void append_header(byte_buffer& out, std::string_view library);
void append(byte_buffer& out, const schema& x);
void append(byte_buffer& out, const channel& x);
void append(byte_buffer& out, const chunk_index& x);
void append(byte_buffer& out, const statistics& x);
void append(byte_buffer& out, const metadata& x);
void append(byte_buffer& out, const metadata_index& x);
void append_data_end(byte_buffer& out, std::uint32_t crc);
/// Where the records of one opcode lie in the summary.
void append_summary_offset(byte_buffer& out, opcode group, std::uint64_t start,
                           std::uint64_t length);
/// Up to the checksum, which follows as four bytes: it covers what is written here, too.
void append_footer_head(byte_buffer& out, std::uint64_t summary_start,
                        std::uint64_t summary_offset_start);

/// Begins a record whose length is not known yet; `end_record` with what is returned ends it.
std::size_t begin_record(byte_buffer& out, opcode code);
void end_record(byte_buffer& out, std::size_t begun) noexcept;

// -- reading: nothing where the content of a record is malformed -----------------------------

std::optional<std::string> parse_header(std::span<const std::byte> content); ///< the library
std::optional<schema> parse_schema(std::span<const std::byte> content);
std::optional<channel> parse_channel(std::span<const std::byte> content);
std::optional<message> parse_message(std::span<const std::byte> content) noexcept;
std::optional<chunk> parse_chunk(std::span<const std::byte> content) noexcept;
std::optional<chunk_index> parse_chunk_index(std::span<const std::byte> content);
std::optional<statistics> parse_statistics(std::span<const std::byte> content);
std::optional<metadata> parse_metadata(std::span<const std::byte> content);
std::optional<metadata_index> parse_metadata_index(std::span<const std::byte> content);
std::optional<footer> parse_footer(std::span<const std::byte> content) noexcept;

/// A record, its content not looked at.
struct raw_record {
  opcode code = opcode::header;
  std::span<const std::byte> content;
};
/// Takes the first record off `bytes`; nothing where it is not whole.
std::optional<raw_record> take_record(std::span<const std::byte>& bytes) noexcept;

} // namespace pubsub::record::mcap
