// SPDX-License-Identifier: BSD-3-Clause
#include "record/source.hpp"

#include <algorithm>
#include <limits>

#include "record/crc32.hpp"
#include "record/field_reader.hpp"
#include "record/packer.hpp"

namespace pubsub::record {

namespace {

constexpr const char* breaks_off = "the file breaks off";

} // namespace

source::source(input_file file, reader_options options)
    : file_(std::move(file)), options_(std::move(options)),
      from_(options_.from ? file_time(*options_.from) : 0),
      to_(options_.to ? file_time(*options_.to) : std::numeric_limits<std::uint64_t>::max()),
      channels_(options_.topics) {}

expected<std::unique_ptr<source>> source::open(std::string path, reader_options options) {
  auto file = input_file::open(std::move(path));
  if (!file)
    return file.error();
  std::unique_ptr<source> result{new source{std::move(*file), std::move(options)}};
  if (auto read = result->read_head(); !read)
    return read.error();
  if (auto used = result->use_index(); !used)
    return used.error();
  return result;
}

expected<void> source::read_head() {
  if (file_.size_bytes() == 0)
    return file_.problem(errc::end_of_file, 0, "the file is empty");
  const auto size = std::min<std::uint64_t>(file_.size_bytes(), mcap::magic.size());
  if (auto got = file_.read(0, size, raw_); !got)
    return got;
  if (!std::equal(raw_.bytes().begin(), raw_.bytes().end(), mcap::magic.begin()))
    return file_.problem(errc::wrong_magic_number, 0, "this is no MCAP file of version 0");
  offset_ = size;
  return read_library();
}

// The header comes first; where it does not, the walk through the records will tell.
expected<void> source::read_library() {
  constexpr std::uint64_t most_bytes = 64 * 1024;
  const auto size = std::min(file_.size_bytes() - offset_, most_bytes);
  if (auto got = file_.read(offset_, size, raw_); !got)
    return got;
  auto bytes = raw_.bytes();
  const auto record = mcap::take_record(bytes);
  if (record && record->code == mcap::opcode::header)
    library_ = mcap::parse_header(record->content).value_or("");
  return {};
}

expected<void> source::use_index() {
  auto found = read_index(file_);
  if (!found)
    return found.error();
  if (!found->index) {
    damage_ = found->missing.ended ? "" : found->missing.reason;
    return {};
  }
  index_ = std::move(found->index);
  for (const auto& each : index_->channels)
    if (auto added = channels_.add(each); !added)
      return file_.problem(added.error().code(), 0, added.error().context());
  return {};
}

expected<bool> source::next(message& out) {
  for (;;) {
    while (!records_.empty()) {
      const auto record = mcap::take_record(records_);
      if (!record) {
        records_ = {};
        return problem(errc::invalid_data, "a record in this chunk is longer than the chunk");
      }
      auto taken = take(*record, out);
      if (!taken || *taken)
        return taken;
    }
    auto more = load();
    if (!more || !*more)
      return more;
  }
}

expected<bool> source::load() {
  return index_ ? load_indexed() : scan();
}

bool source::skips(const mcap::chunk_index& chunk) const {
  if (chunk.last_time < from_ || chunk.first_time >= to_)
    return true;
  const auto unwanted = [&](const auto& entry) {
    const auto* const channel = channels_.find(entry.first);
    return channel != nullptr && !channel->wanted;
  };
  return !chunk.message_indexes.empty() && std::ranges::all_of(chunk.message_indexes, unwanted);
}

expected<bool> source::load_indexed() {
  while (next_chunk_ < index_->chunks.size()) {
    const auto& chunk = index_->chunks[next_chunk_++];
    if (skips(chunk))
      continue;
    if (auto read = read_piece(chunk.offset, chunk.length); !read)
      return read.error();
    auto bytes = raw_.bytes();
    const auto record = mcap::take_record(bytes);
    if (!record || record->code != mcap::opcode::chunk)
      return problem(errc::invalid_data, "there is no chunk where the index says");
    if (auto opened = open_chunk(chunk.offset, record->content); !opened)
      return opened.error();
    return true;
  }
  return false;
}

bool source::end_scan(std::string damage) {
  ended_ = true;
  damage_ = std::move(damage);
  return false;
}

expected<bool> source::scan() {
  for (;;) {
    if (ended_)
      return false;
    const auto at = offset_;
    const auto left = file_.size_bytes() - at;
    if (left == 0)
      return end_scan(damage_.empty() ? breaks_off : damage_);
    if (left < mcap::record_head_bytes)
      return end_scan(file_.problem(errc::none, at, breaks_off).context());
    if (auto got = file_.read(at, mcap::record_head_bytes, raw_); !got)
      return got.error();
    const auto code = static_cast<mcap::opcode>(raw_.bytes()[0]);
    const auto length = load_le<std::uint64_t>(raw_.bytes().data() + 1);
    if (length > left - mcap::record_head_bytes)
      return end_scan(file_.problem(errc::none, at, breaks_off).context());
    offset_ = at + mcap::record_head_bytes + length;
    auto found = scan_record(at, code, mcap::record_head_bytes + length);
    if (!found || *found)
      return found;
  }
}

// True if there are records to look at.
expected<bool> source::scan_record(std::uint64_t at, mcap::opcode code, std::uint64_t length) {
  switch (code) {
  case mcap::opcode::data_end:
  case mcap::opcode::footer:
    return end_scan(damage_);
  case mcap::opcode::metadata:
  case mcap::opcode::chunk:
  case mcap::opcode::schema:
  case mcap::opcode::channel:
  case mcap::opcode::message:
    break;
  default:
    return false;
  }
  if (auto read = read_piece(at, length); !read)
    return read.error();
  const auto content = raw_.bytes().subspan(mcap::record_head_bytes);
  if (code == mcap::opcode::metadata) {
    if (auto x = mcap::parse_metadata(content))
      between_.metadata.push_back(std::move(*x));
    return false;
  }
  if (code == mcap::opcode::chunk) {
    auto opened = open_chunk(at, content);
    return opened ? expected<bool>{true} : opened.error();
  }
  records_ = raw_.bytes();
  return true;
}

expected<void> source::read_piece(std::uint64_t at, std::uint64_t length) {
  piece_at_ = at;
  records_ = {};
  if (length > options_.max_chunk_bytes)
    return problem(errc::limit_exceeded,
                   "a record of " + std::to_string(length) + " bytes is more than max_chunk_bytes");
  return file_.read(at, length, raw_);
}

expected<void> source::open_chunk(std::uint64_t at, std::span<const std::byte> content) {
  piece_at_ = at;
  const auto chunk = mcap::parse_chunk(content);
  if (!chunk)
    return problem(errc::invalid_data, "a chunk is malformed");
  if (chunk->uncompressed_bytes > options_.max_chunk_bytes)
    return problem(errc::limit_exceeded, "a chunk of " + std::to_string(chunk->uncompressed_bytes) +
                                             " bytes is more than max_chunk_bytes");
  auto records = chunk->records;
  if (chunk->compression == zstd_name) {
    auto restored = decompressor_.restore(chunk->records, chunk->uncompressed_bytes, chunk_);
    if (!restored)
      return problem(restored.error().code(), restored.error().context());
    records = chunk_.bytes();
  } else if (!chunk->compression.empty()) {
    return problem(errc::not_supported,
                   "a chunk is compressed by " + std::string{chunk->compression}.substr(0, 20));
  }
  if (chunk->crc != 0 && crc32(records) != chunk->crc)
    return problem(errc::invalid_data, "the checksum of a chunk is wrong");
  ++between_.chunks;
  between_.compressed_bytes += chunk->records.size();
  between_.uncompressed_bytes += records.size();
  between_.compression = chunk->compression;
  records_ = records;
  return {};
}

expected<bool> source::take(const mcap::raw_record& record, message& out) {
  if (record.code == mcap::opcode::message)
    return take_message(record.content, out);
  if (record.code != mcap::opcode::channel)
    return false;
  const auto channel = mcap::parse_channel(record.content);
  if (!channel)
    return problem(errc::invalid_data, "a channel is malformed");
  if (auto added = channels_.add(*channel); !added)
    return problem(added.error().code(), added.error().context());
  return false;
}

bool source::in_time(std::uint64_t log_time) const noexcept {
  return log_time >= from_ && log_time < to_;
}

expected<bool> source::take_message(std::span<const std::byte> content, message& out) {
  const auto x = mcap::parse_message(content);
  if (!x)
    return problem(errc::invalid_data, "a message is malformed");
  const auto* const channel = channels_.find(x->channel_id);
  if (channel == nullptr)
    return problem(errc::invalid_data, "a message is of channel " + std::to_string(x->channel_id) +
                                           ", which is not described before it");
  if (!channel->wanted || !in_time(x->log_time))
    return false;
  channel_ = x->channel_id;
  out.topic = channel->topic;
  out.payload = x->payload;
  out.encoding = channel->encoding;
  out.log_time = time_of_file(x->log_time);
  out.publish_time = time_of_file(x->publish_time);
  out.origin = channel->origin;
  out.sequence = x->sequence;
  if (out.origin)
    out.sequence = out.origin->sequence |= x->sequence;
  return true;
}

std::optional<mcap::metadata> source::metadata_at(const mcap::metadata_index& where) const {
  byte_buffer bytes;
  if (where.length > options_.max_chunk_bytes ||
      !file_.read(where.offset, where.length, bytes).has_value())
    return std::nullopt;
  auto rest = bytes.bytes();
  const auto record = mcap::take_record(rest);
  if (!record || record->code != mcap::opcode::metadata)
    return std::nullopt;
  return mcap::parse_metadata(record->content);
}

} // namespace pubsub::record
