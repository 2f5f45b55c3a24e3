// SPDX-License-Identifier: BSD-3-Clause
#include "record/output_file.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>

#include "record/channel_names.hpp"
#include "record/crc32.hpp"
#include "record/packer.hpp"
#include "record/schemas.hpp"

namespace pubsub::record {

namespace {

constexpr std::string_view library_name = "libpubsub " PUBSUB_VERSION;

error cannot_write(const std::string& path, int number) {
  return {errc::cannot_write_file, path + ": " + std::generic_category().message(number)};
}

mcap::metadata as_metadata(const gap_note& note) {
  return {std::string{gap_name},
          {{"time", std::to_string(file_time(note.when))},
           {"missed", std::to_string(note.missing.missed)},
           {"dropped", std::to_string(note.missing.dropped)}}};
}

// Appends what `add_records` appends to the summary, and where it lies to `offsets`.
template <class AddRecords>
void append_group(byte_buffer& out, byte_buffer& offsets, std::uint64_t start, mcap::opcode code,
                  AddRecords add_records) {
  const auto at = out.size();
  add_records();
  if (out.size() > at)
    mcap::append_summary_offset(offsets, code, start + at, out.size() - at);
}

} // namespace

std::string numbered(const std::string& path, unsigned number) {
  constexpr std::size_t least_digits = 4;
  auto digits = std::to_string(number);
  digits.insert(0, least_digits - std::min(digits.size(), least_digits), '0');
  const std::filesystem::path whole{path};
  auto name = whole.stem();
  name += "-" + digits;
  name += whole.extension();
  return (whole.parent_path() / name).string();
}

expected<output_file> output_file::create(std::string path, existing_file existing,
                                          const mcap::text_map& about) {
  const int how = existing == existing_file::replace ? O_TRUNC : O_EXCL;
  unique_fd fd{::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666)};
  if (!fd.valid())
    return cannot_write(path, errno);
  output_file file{std::move(path), std::move(fd)};
  byte_buffer head;
  head.add_bytes(mcap::magic);
  mcap::append_header(head, library_name);
  if (auto written = file.write(head.bytes()); !written)
    return written.error();
  if (!about.empty())
    if (auto written = file.add(mcap::metadata{std::string{about_name}, about}); !written)
      return written.error();
  return file;
}

expected<void> output_file::write(std::span<const std::byte> bytes) {
  if (!fd_.valid())
    return error{errc::cannot_write_file, path_ + ": it is closed"};
  auto left = bytes;
  while (!left.empty()) {
    const auto n = ::write(fd_.get(), left.data(), left.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0) {
      auto failed = cannot_write(path_, errno);
      // What is half written is taken back, so that there is room for an index.
      if (::ftruncate(fd_.get(), static_cast<off_t>(size_)) == 0)
        ::lseek(fd_.get(), static_cast<off_t>(size_), SEEK_SET);
      else
        fd_ = unique_fd{};
      return failed;
    }
    left = left.subspan(static_cast<std::size_t>(n));
  }
  size_ += bytes.size();
  crc_ = crc32(bytes, crc_);
  return {};
}

expected<void> output_file::add(const mcap::metadata& x) {
  byte_buffer record;
  mcap::append(record, x);
  const auto at = size_;
  if (auto written = write(record.bytes()); !written)
    return written;
  mcap::append(metadata_indexes_, mcap::metadata_index{at, record.size(), x.name});
  ++statistics_.metadata;
  return {};
}

expected<void> output_file::add(const sealed_chunk& chunk) {
  for (const auto& note : chunk.gaps)
    if (auto written = add(as_metadata(note)); !written)
      return written;
  if (chunk.messages == 0)
    return {};
  auto index = chunk.index;
  index.offset = size_;
  for (auto& [channel, offset] : index.message_indexes)
    offset += size_;
  if (auto written = write(chunk.bytes.bytes()); !written)
    return written;
  mcap::append(chunk_indexes_, index);
  channels_ = chunk.channels;
  count(chunk);
  return {};
}

void output_file::count(const sealed_chunk& chunk) {
  if (statistics_.messages == 0)
    statistics_.first_time = chunk.index.first_time;
  statistics_.last_time = chunk.index.last_time;
  statistics_.messages += chunk.messages;
  ++statistics_.chunks;
  for (const auto& [channel, messages] : chunk.messages_of)
    statistics_.messages_of[channel] += messages;
}

// The schemas and channels that have messages here, and the counts.
void output_file::append_definitions(byte_buffer& out, byte_buffer& offsets, std::uint64_t start) {
  byte_buffer channels;
  std::vector<std::uint16_t> schemas;
  for (const auto& [channel, messages] : statistics_.messages_of) {
    const auto record = channels_->of[channel - 1U].bytes();
    const auto parsed = mcap::parse_channel(record.subspan(mcap::record_head_bytes));
    if (parsed && parsed->schema_id != no_schema)
      schemas.push_back(parsed->schema_id);
    channels.add_bytes(record);
  }
  std::ranges::sort(schemas);
  schemas.erase(std::unique(schemas.begin(), schemas.end()), schemas.end());
  statistics_.schemas = static_cast<std::uint16_t>(schemas.size());
  statistics_.channels = static_cast<std::uint32_t>(statistics_.messages_of.size());
  append_group(out, offsets, start, mcap::opcode::schema, [&] {
    for (const auto id : schemas)
      append_schema(out, id);
  });
  append_group(out, offsets, start, mcap::opcode::channel,
               [&] { out.add_bytes(channels.bytes()); });
  append_group(out, offsets, start, mcap::opcode::statistics,
               [&] { mcap::append(out, statistics_); });
}

expected<void> output_file::finish() {
  byte_buffer end;
  mcap::append_data_end(end, crc_);
  if (auto written = write(end.bytes()); !written)
    return written;
  const auto start = size_;
  byte_buffer out;
  byte_buffer offsets;
  append_definitions(out, offsets, start);
  append_group(out, offsets, start, mcap::opcode::chunk_index,
               [&] { out.add_bytes(chunk_indexes_.bytes()); });
  append_group(out, offsets, start, mcap::opcode::metadata_index,
               [&] { out.add_bytes(metadata_indexes_.bytes()); });
  const auto offsets_start = start + out.size();
  out.add_bytes(offsets.bytes());
  mcap::append_footer_head(out, start, offsets_start);
  out.add(crc32(out.bytes()));
  out.add_bytes(mcap::magic);
  auto written = write(out.bytes());
  fd_ = unique_fd{};
  return written;
}

} // namespace pubsub::record
