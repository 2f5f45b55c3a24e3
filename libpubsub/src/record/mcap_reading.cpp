// SPDX-License-Identifier: BSD-3-Clause
#include "record/mcap.hpp"

#include "record/field_reader.hpp"

namespace pubsub::record::mcap {

namespace {

bool read_map(field_reader& in, text_map& out) {
  std::span<const std::byte> block;
  if (!in.read_block(block))
    return false;
  for (field_reader entries{block}; !entries.at_end();) {
    std::string_view key;
    std::string_view value;
    if (!entries.read_text(key) || !entries.read_text(value))
      return false;
    out.insert_or_assign(std::string{key}, std::string{value});
  }
  return true;
}

// A map from channels to numbers.
template <class Take>
bool read_by_channel(field_reader& in, Take take) {
  std::span<const std::byte> block;
  if (!in.read_block(block))
    return false;
  for (field_reader entries{block}; !entries.at_end();) {
    std::uint16_t channel = 0;
    std::uint64_t value = 0;
    if (!entries.read(channel) || !entries.read(value))
      return false;
    take(channel, value);
  }
  return true;
}

} // namespace

std::optional<std::string> parse_header(std::span<const std::byte> content) {
  field_reader in{content};
  std::string_view profile;
  std::string_view library;
  if (!in.read_text(profile) || !in.read_text(library))
    return std::nullopt;
  return std::string{library};
}

std::optional<schema> parse_schema(std::span<const std::byte> content) {
  field_reader in{content};
  schema x;
  if (!in.read(x.id) || !in.read_text(x.name) || !in.read_text(x.encoding) ||
      !in.read_block(x.content))
    return std::nullopt;
  return x;
}

std::optional<channel> parse_channel(std::span<const std::byte> content) {
  field_reader in{content};
  channel x;
  std::string_view topic;
  std::string_view encoding;
  if (!in.read(x.id) || !in.read(x.schema_id) || !in.read_text(topic) || !in.read_text(encoding) ||
      !read_map(in, x.metadata))
    return std::nullopt;
  x.topic = topic;
  x.encoding = encoding;
  return x;
}

std::optional<message> parse_message(std::span<const std::byte> content) noexcept {
  field_reader in{content};
  message x;
  if (!in.read(x.channel_id) || !in.read(x.sequence) || !in.read(x.log_time) ||
      !in.read(x.publish_time))
    return std::nullopt;
  x.payload = in.rest();
  return x;
}

std::optional<chunk> parse_chunk(std::span<const std::byte> content) noexcept {
  field_reader in{content};
  chunk x;
  std::uint64_t size = 0;
  if (!in.read(x.first_time) || !in.read(x.last_time) || !in.read(x.uncompressed_bytes) ||
      !in.read(x.crc) || !in.read_text(x.compression) || !in.read(size) ||
      !in.read_bytes(size, x.records))
    return std::nullopt;
  return x;
}

std::optional<chunk_index> parse_chunk_index(std::span<const std::byte> content) {
  field_reader in{content};
  chunk_index x;
  std::string_view compression;
  const auto keep = [&](std::uint16_t channel, std::uint64_t offset) {
    x.message_indexes.emplace_back(channel, offset);
  };
  if (!in.read(x.first_time) || !in.read(x.last_time) || !in.read(x.offset) || !in.read(x.length) ||
      !read_by_channel(in, keep) || !in.read(x.message_index_bytes) || !in.read_text(compression) ||
      !in.read(x.compressed_bytes) || !in.read(x.uncompressed_bytes))
    return std::nullopt;
  x.compression = compression;
  return x;
}

std::optional<statistics> parse_statistics(std::span<const std::byte> content) {
  field_reader in{content};
  statistics x;
  const auto keep = [&](std::uint16_t channel, std::uint64_t messages) {
    x.messages_of.insert_or_assign(channel, messages);
  };
  if (!in.read(x.messages) || !in.read(x.schemas) || !in.read(x.channels) ||
      !in.read(x.attachments) || !in.read(x.metadata) || !in.read(x.chunks) ||
      !in.read(x.first_time) || !in.read(x.last_time) || !read_by_channel(in, keep))
    return std::nullopt;
  return x;
}

std::optional<metadata> parse_metadata(std::span<const std::byte> content) {
  field_reader in{content};
  metadata x;
  std::string_view name;
  if (!in.read_text(name) || !read_map(in, x.entries))
    return std::nullopt;
  x.name = name;
  return x;
}

std::optional<metadata_index> parse_metadata_index(std::span<const std::byte> content) {
  field_reader in{content};
  metadata_index x;
  std::string_view name;
  if (!in.read(x.offset) || !in.read(x.length) || !in.read_text(name))
    return std::nullopt;
  x.name = name;
  return x;
}

std::optional<footer> parse_footer(std::span<const std::byte> content) noexcept {
  field_reader in{content};
  footer x;
  if (content.size() != footer_bytes || !in.read(x.summary_start) ||
      !in.read(x.summary_offset_start) || !in.read(x.crc))
    return std::nullopt;
  return x;
}

std::optional<raw_record> take_record(std::span<const std::byte>& bytes) noexcept {
  field_reader in{bytes};
  std::uint8_t code = 0;
  std::uint64_t size = 0;
  raw_record x;
  if (!in.read(code) || !in.read(size) || !in.read_bytes(size, x.content))
    return std::nullopt;
  x.code = static_cast<opcode>(code);
  bytes = in.rest();
  return x;
}

} // namespace pubsub::record::mcap
