// An MCAP file that is being written.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <pubsub/error.hpp>
#include <pubsub/record/recording_options.hpp>

#include "base/unique_fd.hpp"
#include "record/byte_buffer.hpp"
#include "record/chunk_builder.hpp"
#include "record/mcap.hpp"

namespace pubsub::record {

/// Chunks go to the disk as they come, the index at the end. After an error the file ends behind
/// the last whole chunk.
class output_file {
public:
  /// Errors: cannot_write_file.
  static expected<output_file> create(std::string path, existing_file existing,
                                      const mcap::text_map& about);

  const std::string& path() const noexcept { return path_; }
  std::uint64_t size_bytes() const noexcept { return size_; }
  /// Whether a chunk can follow: all chunks of a file have the same channels.
  bool takes(const sealed_chunk& chunk) const noexcept {
    return channels_ == nullptr || channels_ == chunk.channels;
  }

  /// Errors: cannot_write_file.
  expected<void> add(const sealed_chunk& chunk);
  /// Writes the index and closes the file. Errors: cannot_write_file.
  expected<void> finish();

private:
  output_file(std::string path, unique_fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  expected<void> write(std::span<const std::byte> bytes);
  expected<void> add(const mcap::metadata& x);
  void count(const sealed_chunk& chunk);
  void append_definitions(byte_buffer& out, byte_buffer& offsets, std::uint64_t start);

  std::string path_;
  unique_fd fd_;
  std::uint64_t size_ = 0;
  std::uint32_t crc_ = 0; // of all that was written
  mcap::statistics statistics_;
  std::shared_ptr<const channel_records> channels_;
  byte_buffer chunk_indexes_; // records
  byte_buffer metadata_indexes_;
};

/// `traffic-0007.mcap` for `traffic.mcap` and 7.
std::string numbered(const std::string& path, unsigned number);

} // namespace pubsub::record
