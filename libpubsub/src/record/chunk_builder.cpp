// SPDX-License-Identifier: BSD-3-Clause
#include "record/chunk_builder.hpp"

#include <algorithm>

#include "record/crc32.hpp"
#include "record/schemas.hpp"

namespace pubsub::record {

namespace {

constexpr std::size_t index_entry_bytes = 16;
// Behind the opcode, the length and the id of the channel.
constexpr std::size_t schema_id_at = mcap::record_head_bytes + sizeof(std::uint16_t);

} // namespace

chunk_builder::chunk_builder(int compression_level, std::size_t usual_bytes)
    : compressor_(compression_level > 0 ? std::make_unique<compressor>(compression_level)
                                        : nullptr) {
  records_.reserve(usual_bytes + usual_bytes / 8);
}

void chunk_builder::add(const message_head& head, std::span<const std::byte> payload,
                        const channel_records& channels) {
  if (head.channel >= indexes_.size())
    indexes_.resize(head.channel + std::size_t{1});
  auto& index = indexes_[head.channel];
  if (index.empty())
    begin_channel(head.channel, channels);
  if (messages_ == 0)
    first_time_ = head.log_time;
  last_time_ = head.log_time;
  index.add(head.log_time);
  index.add(static_cast<std::uint64_t>(records_.size()));

  const auto size = mcap::message_head_bytes + payload.size();
  auto* pos = records_.extend(mcap::record_head_bytes + size);
  pos = store_le(pos, static_cast<std::uint8_t>(mcap::opcode::message));
  pos = store_le(pos, static_cast<std::uint64_t>(size));
  pos = store_le(pos, head.channel);
  pos = store_le(pos, head.sequence);
  pos = store_le(pos, head.log_time);
  pos = store_le(pos, head.publish_time);
  if (!payload.empty())
    std::memcpy(pos, payload.data(), payload.size());
  ++messages_;
  payload_bytes_ += payload.size();
}

// Each chunk has what its messages refer to, so that it can be read by itself.
void chunk_builder::begin_channel(std::uint16_t id, const channel_records& channels) {
  const auto record = channels.of[id - 1U].bytes();
  const auto schema = load_le<std::uint16_t>(record.data() + schema_id_at);
  if (std::ranges::find(schemas_, schema) == schemas_.end()) {
    append_schema(records_, schema);
    schemas_.push_back(schema);
  }
  records_.add_bytes(record);
  used_.push_back(id);
}

sealed_chunk chunk_builder::seal(std::shared_ptr<const channel_records> channels) {
  sealed_chunk result;
  result.channels = std::move(channels);
  result.gaps = std::exchange(gaps_, {});
  result.messages = std::exchange(messages_, 0);
  result.payload_bytes = std::exchange(payload_bytes_, 0);
  if (result.messages > 0) {
    add_chunk_record(result);
    add_message_indexes(result);
  }
  records_.clear();
  schemas_.clear();
  return result;
}

void chunk_builder::add_chunk_record(sealed_chunk& to) {
  auto& out = to.bytes;
  auto& index = to.index;
  index.first_time = first_time_;
  index.last_time = last_time_;
  index.uncompressed_bytes = records_.size();
  index.compression = compressor_ ? zstd_name : "";
  const auto begun = mcap::begin_record(out, mcap::opcode::chunk);
  out.add(index.first_time);
  out.add(index.last_time);
  out.add(index.uncompressed_bytes);
  out.add(crc32(records_.bytes()));
  out.add_text(index.compression);
  const auto size_at = out.size();
  out.add(std::uint64_t{0});
  const auto content_at = out.size();
  if (compressor_)
    compressor_->append(out, records_.bytes());
  else
    out.add_bytes(records_.bytes());
  index.compressed_bytes = out.size() - content_at;
  out.patch(size_at, index.compressed_bytes);
  mcap::end_record(out, begun);
  index.length = out.size();
}

void chunk_builder::add_message_indexes(sealed_chunk& to) {
  auto& out = to.bytes;
  for (const auto id : used_) {
    auto& entries = indexes_[id];
    to.index.message_indexes.emplace_back(id, out.size());
    to.messages_of.emplace_back(id, entries.size() / index_entry_bytes);
    const auto begun = mcap::begin_record(out, mcap::opcode::message_index);
    out.add(id);
    out.add(static_cast<std::uint32_t>(entries.size()));
    out.add_bytes(entries.bytes());
    mcap::end_record(out, begun);
    entries.clear();
  }
  used_.clear();
  to.index.message_index_bytes = out.size() - to.index.length;
}

} // namespace pubsub::record
