// Gathers messages into one chunk of a recording.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <pubsub/record/recording_options.hpp>
#include <pubsub/value/time.hpp>

#include "record/byte_buffer.hpp"
#include "record/channel_table.hpp"
#include "record/compressor.hpp"
#include "record/mcap.hpp"

namespace pubsub::record {

/// A gap in front of the messages of a chunk, or among them.
struct gap_note {
  timestamp when;
  gap missing;
};

/// A chunk that is whole, with the schemas and channels of its messages: it can be written to any
/// file.
struct sealed_chunk {
  byte_buffer bytes;       ///< the record of the chunk and those of its message indexes
  mcap::chunk_index index; ///< offsets count from the beginning of the chunk
  std::vector<std::pair<std::uint16_t, std::uint64_t>> messages_of; ///< by channel
  std::uint64_t messages = 0;                                       ///< 0: there are only gaps
  std::uint64_t payload_bytes = 0;
  std::vector<gap_note> gaps;
  std::shared_ptr<const channel_records> channels;
};

/// Times are nanoseconds since 1970, as in the file.
struct message_head {
  std::uint16_t channel = 0;
  std::uint32_t sequence = 0;
  std::uint64_t log_time = 0;
  std::uint64_t publish_time = 0;
};

class chunk_builder {
public:
  /// Level 0: not compressed.
  chunk_builder(int compression_level, std::size_t usual_bytes);

  bool empty() const noexcept { return messages_ == 0; }
  std::size_t size_bytes() const noexcept { return records_.size(); }
  /// When its first message was recorded; only where it is not empty.
  std::uint64_t first_time() const noexcept { return first_time_; }

  /// Log times must not decrease. `channels` has the record of the channel.
  void add(const message_head& head, std::span<const std::byte> payload,
           const channel_records& channels);
  void add(const gap_note& note) { gaps_.push_back(note); }
  bool has_gaps() const noexcept { return !gaps_.empty(); }

  /// Ends the chunk and begins the next one.
  sealed_chunk seal(std::shared_ptr<const channel_records> channels);

private:
  void begin_channel(std::uint16_t id, const channel_records& channels);
  void add_chunk_record(sealed_chunk& to);
  void add_message_indexes(sealed_chunk& to);

  std::unique_ptr<compressor> compressor_; // null: none
  byte_buffer records_;
  std::vector<byte_buffer> indexes_; // of channel n at n: times and offsets
  std::vector<std::uint16_t> used_;  // channels that have messages here
  std::vector<std::uint16_t> schemas_;
  std::vector<gap_note> gaps_;
  std::uint64_t messages_ = 0;
  std::uint64_t payload_bytes_ = 0;
  std::uint64_t first_time_ = 0;
  std::uint64_t last_time_ = 0;
};

} // namespace pubsub::record
