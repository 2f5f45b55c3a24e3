// Walks through the messages of an MCAP file, by its index or from its beginning.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <pubsub/error.hpp>
#include <pubsub/record/reader.hpp>
#include <pubsub/record/recorded_message.hpp>

#include "record/byte_buffer.hpp"
#include "record/channel_directory.hpp"
#include "record/compressor.hpp"
#include "record/file_index.hpp"
#include "record/input_file.hpp"
#include "record/mcap.hpp"

namespace pubsub::record {

/// What is between the messages, as far as it has been read.
struct between_messages {
  std::uint64_t chunks = 0;
  std::uint64_t compressed_bytes = 0;
  std::uint64_t uncompressed_bytes = 0;
  std::string compression;
  std::vector<mcap::metadata> metadata;
};

class source {
public:
  /// Errors: those of `reader::open`.
  static expected<std::unique_ptr<source>> open(std::string path, reader_options options);

  /// False at the end. What `out` refers to is valid until the next call. Errors: as
  /// `reader::next`.
  expected<bool> next(message& out);
  /// The channel of the message that `next` has returned last.
  std::uint16_t channel() const noexcept { return channel_; }

  const input_file& file() const noexcept { return file_; }
  /// What has written the file.
  const std::string& library() const noexcept { return library_; }
  /// Null where there is none.
  const file_index* index() const noexcept { return index_ ? &*index_ : nullptr; }
  const std::string& damage() const noexcept { return damage_; }
  const channel_directory& channels() const noexcept { return channels_; }
  /// Without an index only what lies before the last message that was read.
  const between_messages& between() const noexcept { return between_; }
  /// A metadata record at a place that the index names; nothing if it is none.
  std::optional<mcap::metadata> metadata_at(const mcap::metadata_index& where) const;

private:
  source(input_file file, reader_options options);

  expected<void> read_head();
  expected<void> read_library();
  expected<void> use_index();
  expected<bool> load();
  expected<bool> load_indexed();
  expected<bool> scan();
  expected<bool> scan_record(std::uint64_t at, mcap::opcode code, std::uint64_t length);
  bool end_scan(std::string damage);
  bool skips(const mcap::chunk_index& chunk) const;
  expected<void> read_piece(std::uint64_t at, std::uint64_t length);
  expected<void> open_chunk(std::uint64_t at, std::span<const std::byte> content);
  expected<bool> take(const mcap::raw_record& record, message& out);
  expected<bool> take_message(std::span<const std::byte> content, message& out);
  bool in_time(std::uint64_t log_time) const noexcept;
  error problem(errc code, const std::string& sentence) const {
    return file_.problem(code, piece_at_, sentence);
  }

  input_file file_;
  reader_options options_;
  std::uint64_t from_ = 0; // of log times
  std::uint64_t to_;       // behind the last one
  channel_directory channels_;
  std::string library_;
  between_messages between_;
  std::optional<file_index> index_;
  std::size_t next_chunk_ = 0; // in the index
  std::uint64_t offset_ = 0;   // of the next record, without an index
  bool ended_ = false;
  std::string damage_;
  decompressor decompressor_;
  byte_buffer raw_;                    // a record of the file
  byte_buffer chunk_;                  // what was compressed in it
  std::span<const std::byte> records_; // not looked at yet, in one of the two
  std::uint64_t piece_at_ = 0;         // where the record in raw_ lies in the file
  std::uint16_t channel_ = 0;
};

} // namespace pubsub::record
