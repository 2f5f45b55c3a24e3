// What a recording contains, as a whole.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <pubsub/error.hpp>
#include <pubsub/export.hpp>
#include <pubsub/record/recording_options.hpp>
#include <pubsub/value/time.hpp>

namespace pubsub::record {

struct topic_summary {
  std::string topic;
  std::string encoding;
  std::uint64_t messages = 0;
  std::uint64_t streams = 0; ///< publishers, or threads, that are told apart by their origins
};

/// A gap that the recorder has noted.
struct noted_gap {
  timestamp when;
  gap missing;
};

struct summary {
  std::string path;
  std::string library; ///< what has written it
  std::uint64_t file_bytes = 0;
  bool indexed = false; ///< it has an index that is right
  std::string damage;   ///< where it breaks off, or what cannot be read; empty if it is whole
  std::uint64_t messages = 0;
  std::uint64_t chunks = 0;
  std::uint64_t compressed_bytes = 0;   ///< of the chunks
  std::uint64_t uncompressed_bytes = 0; ///< of the chunks
  std::string compression;              ///< such as `zstd`
  std::optional<timestamp> first;       ///< when the first message was recorded, if there is one
  std::optional<timestamp> last;
  std::vector<topic_summary> topics;                     ///< by topic
  std::vector<noted_gap> gaps;                           ///< in the order of the file
  std::map<std::string, std::string, std::less<>> about; ///< `chunk_options::about`
};

/// Reads the index, or where there is none all of the file. Errors: as `reader::open`, and
/// cannot_open_file (reading failed); what is wrong in the file is `damage`.
PUBSUB_EXPORT expected<summary> summarize(const std::string& path);

} // namespace pubsub::record
