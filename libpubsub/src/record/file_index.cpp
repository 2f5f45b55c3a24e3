// SPDX-License-Identifier: BSD-3-Clause
#include "record/file_index.hpp"

#include <algorithm>

#include "record/crc32.hpp"

namespace pubsub::record {

namespace {

// Bytes of the footer record that its checksum covers.
constexpr std::size_t checked_footer_bytes = mcap::record_head_bytes + 16;

index_or_reason none(std::string reason, bool ended = false) {
  return {std::nullopt, {std::move(reason), ended}};
}

// False where the record is malformed.
bool take(file_index& into, bool& counted, const mcap::raw_record& record) {
  switch (record.code) {
  case mcap::opcode::channel: {
    auto x = mcap::parse_channel(record.content);
    if (x)
      into.channels.push_back(std::move(*x));
    return x.has_value();
  }
  case mcap::opcode::chunk_index: {
    auto x = mcap::parse_chunk_index(record.content);
    if (x)
      into.chunks.push_back(std::move(*x));
    return x.has_value();
  }
  case mcap::opcode::metadata_index: {
    auto x = mcap::parse_metadata_index(record.content);
    if (x)
      into.metadata.push_back(std::move(*x));
    return x.has_value();
  }
  case mcap::opcode::statistics: {
    auto x = mcap::parse_statistics(record.content);
    if (x)
      into.statistics = std::move(*x);
    counted = x.has_value();
    return counted;
  }
  default:
    return true;
  }
}

bool lies_before(std::uint64_t offset, std::uint64_t length, std::uint64_t end) noexcept {
  return length >= mcap::record_head_bytes && offset < end && length <= end - offset;
}

// The index has all chunks, and they lie in the file.
bool plausible(const file_index& index, std::uint64_t data_end) noexcept {
  return index.chunks.size() == index.statistics.chunks &&
         std::ranges::all_of(
             index.chunks,
             [&](const auto& x) { return lies_before(x.offset, x.length, data_end); }) &&
         std::ranges::all_of(index.metadata, [&](const auto& x) {
           return lies_before(x.offset, x.length, data_end);
         });
}

// The index says of all messages where they are and what they are of: other writers may leave out
// the channels, or write messages outside of chunks, of which no index tells.
bool is_complete(const file_index& index) {
  if (index.statistics.messages == 0)
    return true;
  std::vector<bool> known(std::size_t{1} << 16);
  for (const auto& channel : index.channels)
    known[channel.id] = true;
  return !index.chunks.empty() && !index.statistics.messages_of.empty() &&
         std::ranges::all_of(index.statistics.messages_of,
                             [&](const auto& entry) { return known[entry.first]; });
}

index_or_reason parse(std::span<const std::byte> summary, std::uint64_t start) {
  file_index index;
  bool counted = false;
  while (!summary.empty()) {
    const auto record = mcap::take_record(summary);
    if (!record || !take(index, counted, *record))
      return none("the index of the file is malformed");
  }
  if (!counted)
    return none("the index of the file has no statistics", true);
  if (!plausible(index, start))
    return none("the index of the file does not fit it");
  if (!is_complete(index))
    return none("the index of the file does not have all", true);
  std::ranges::sort(index.chunks, {}, &mcap::chunk_index::offset);
  return {std::move(index), {}};
}

} // namespace

expected<index_or_reason> read_index(const input_file& file) {
  if (file.size_bytes() < mcap::magic.size() + mcap::tail_bytes)
    return none("the file has no end");
  const auto footer_at = file.size_bytes() - mcap::tail_bytes;
  byte_buffer tail;
  if (auto got = file.read(footer_at, mcap::tail_bytes, tail); !got)
    return got.error();
  auto rest = tail.bytes();
  const auto record = mcap::take_record(rest);
  const auto footer = record && record->code == mcap::opcode::footer
                          ? mcap::parse_footer(record->content)
                          : std::nullopt;
  if (!footer || !std::ranges::equal(rest, mcap::magic))
    return none("the file has no end");
  if (footer->summary_start == 0)
    return none("the file has no index", true);
  if (footer->summary_start < mcap::magic.size() || footer->summary_start >= footer_at)
    return none("the index of the file does not fit it");
  byte_buffer summary;
  if (auto got = file.read(footer->summary_start, footer_at - footer->summary_start, summary); !got)
    return got.error();
  const auto crc = crc32(tail.bytes().first(checked_footer_bytes), crc32(summary.bytes()));
  if (footer->crc != 0 && footer->crc != crc)
    return none("the checksum of the index is wrong");
  return parse(summary.bytes(), footer->summary_start);
}

} // namespace pubsub::record
