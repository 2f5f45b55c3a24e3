// Reads MCAP files message by message.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include <pubsub/error.hpp>
#include <pubsub/export.hpp>
#include <pubsub/filter.hpp>
#include <pubsub/record/recorded_message.hpp>
#include <pubsub/value/time.hpp>

namespace pubsub::record {

struct reader_options {
  /// Topic prefixes; the default is everything.
  filter topics{topic{""}};
  /// Only messages recorded at this time or later.
  std::optional<timestamp> from = {};
  /// Only messages recorded before.
  std::optional<timestamp> to = {};
  /// A chunk that is larger is an error: what an untrusted file may make a reader hold.
  std::size_t max_chunk_bytes = 256 * 1024 * 1024;
};

/// Reads the messages of a file, of this library or of another writer, in the order in which they
/// were written. By the file's index, where it has one that is right, chunks that cannot contain
/// what is wanted are not read. A file without an index, such as one that is being written or whose
/// recorder was killed, is read from its beginning to where it breaks off. Never trusts the file:
/// memory is bounded by `max_chunk_bytes` and by what the file really holds. Thread-safety: one
/// thread at a time. Every error names the file and the place in it.
class PUBSUB_EXPORT reader {
public:
  /// Errors: cannot_open_file, wrong_magic_number (it is no MCAP file), end_of_file (it is empty).
  static expected<reader> open(std::string path, reader_options options = {});

  reader(reader&&) noexcept;
  reader& operator=(reader&&) noexcept;
  ~reader();

  /// The next message; nothing at the end. After an error the next call goes on behind what could
  /// not be read. Errors: invalid_data (a checksum or a record is wrong), not_supported
  /// (a compression other than zstd), limit_exceeded (a chunk beyond `max_chunk_bytes`),
  /// cannot_open_file (reading failed).
  expected<std::optional<message>> next();

  /// True if the file has an index and it is used.
  bool indexed() const noexcept;
  /// Why there is no index, or where the file breaks off: known once the end is reached. Empty for
  /// a file that is whole.
  const std::string& damage() const noexcept;

private:
  class core;
  explicit reader(std::unique_ptr<core> state);

  std::unique_ptr<core> state_;
};

} // namespace pubsub::record
