// How messages are put into a recording, and where a recording in memory or in files ends.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include <pubsub/error.hpp>
#include <pubsub/export.hpp>

namespace pubsub::record {

/// What the payload of a recorded message is.
enum class payload_format : std::uint8_t {
  /// The value as it is encoded (bin::v1): nothing is changed or lost.
  binary,
  /// The message as JSON (`to_json` with the topic), with a JSON schema, for viewers of MCAP files:
  /// reals have six decimals, times milliseconds, and bytes that are not UTF-8 become U+FFFD.
  json,
};

/// Messages are gathered into chunks; a chunk is compressed, checked and written as a whole.
struct chunk_options {
  payload_format format = payload_format::binary;
  /// Of zstd, 1 to 19; 0: chunks are not compressed.
  int compression_level = 1;
  /// Bytes of a chunk before compression, 1 KiB to 256 MiB. A message may be longer.
  std::size_t chunk_bytes = 1024 * 1024;
  /// A chunk ends with the first message that comes so long after its first one; more than 0. What
  /// has not become a whole chunk is lost when the process ends without `close`.
  std::chrono::nanoseconds chunk_time = std::chrono::seconds{1};
  /// What the file says about itself, for people: names and values in UTF-8.
  std::map<std::string, std::string, std::less<>> about;
};

/// What happens where the file is already there.
enum class existing_file : std::uint8_t {
  refuse,  ///< it stays: an error, or the next number that is free
  replace, ///< it is overwritten
};

struct writer_options {
  chunk_options chunks;
  /// The file ends once it has so many bytes, and the next one begins; 0: never.
  std::uint64_t split_bytes = 0;
  /// The file ends when a message comes so long after its first one; 0: never. With either of the
  /// two, files are called NAME-0001.mcap, NAME-0002.mcap and so on.
  std::chrono::nanoseconds split_time{0};
  existing_file existing = existing_file::refuse;
};

/// At least one of the two bounds is to be given.
struct ring_options {
  chunk_options chunks;
  /// Bytes of compressed chunks that are kept; 0: no bound.
  std::uint64_t max_bytes = 0;
  /// What came so long before the newest message is forgotten, a chunk at a time; 0: no bound.
  std::chrono::nanoseconds max_time{0};
};

/// Whether all fields are in range. Errors: invalid_argument; the context names the field.
PUBSUB_EXPORT expected<void> check(const writer_options& options);
PUBSUB_EXPORT expected<void> check(const ring_options& options);

/// Messages that the recorder knows of and has not got.
struct gap {
  std::uint64_t missed = 0;  ///< never arrived (`subscriber_counters::missed`)
  std::uint64_t dropped = 0; ///< arrived and were dropped (`subscriber_counters::dropped`)

  friend bool operator==(const gap&, const gap&) = default;
};

/// What has been written.
struct totals {
  std::uint64_t messages = 0;
  std::uint64_t chunks = 0;
  std::uint64_t files = 0;
  std::uint64_t payload_bytes = 0; ///< of the messages, without what the format adds
  std::uint64_t file_bytes = 0;    ///< of all files, as far as they are written
  gap missing;                     ///< the sum of what was noted
};

} // namespace pubsub::record
