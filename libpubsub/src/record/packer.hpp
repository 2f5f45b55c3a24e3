// From messages to chunks: what a recording in files and one in memory have in common.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <pubsub/data_message.hpp>
#include <pubsub/error.hpp>
#include <pubsub/record/recorded_message.hpp>
#include <pubsub/record/recording_options.hpp>
#include <pubsub/value/time.hpp>

#include "record/channel_table.hpp"
#include "record/chunk_builder.hpp"

namespace pubsub::record {

class packer {
public:
  enum class outcome : std::uint8_t {
    added,
    seal_first, ///< not added: the chunk is to be ended before
  };

  explicit packer(const chunk_options& options);

  /// Errors: limit_exceeded.
  expected<outcome> add(const data_message& msg, timestamp log_time);
  expected<outcome> add(const message& msg);
  void note(const gap& missing, timestamp when) { chunk_.add(gap_note{when, missing}); }

  /// The chunk has as many bytes as it is to have.
  bool full() const noexcept { return chunk_.size_bytes() >= options_.chunk_bytes; }
  /// There is something to seal.
  bool pending() const noexcept { return !chunk_.empty() || chunk_.has_gaps(); }
  sealed_chunk seal() { return chunk_.seal(channels_.records()); }

private:
  /// Whether messages without an origin have a number.
  enum class numbers : std::uint8_t { given, to_count };
  expected<outcome> add(const message& msg, timestamp log_time, numbers which);
  std::span<const std::byte> payload_of(const data_message& msg);

  chunk_options options_;
  channel_table channels_;
  chunk_builder chunk_;
  origin_cursor origins_;
  std::string json_;
  std::uint64_t last_time_ = 0;
};

/// Nanoseconds since 1970 as a file has them, and back: what does not fit becomes what is nearest.
std::uint64_t file_time(timestamp x) noexcept;
timestamp time_of_file(std::uint64_t x) noexcept;

} // namespace pubsub::record
