// Records of one log that a Zeek node sends to a logger at once (`zeek-bin-serializer`).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <pubsub/data.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>
#include <pubsub/zeek/log.hpp>

namespace pubsub::zeek {

/// A column of a batch, with all that Zeek tells about it.
struct log_column : log_field {
  /// Another name of the same column, where the log's filter gives it one.
  std::optional<std::string> secondary_name;
  /// Whether records may leave it unset.
  bool optional = false;

  friend bool operator==(const log_column&, const log_column&) = default;
};

/// Records of one log, and what they hold. In Zeek's ZeroMQ cluster each batch says all of it.
struct log_batch {
  std::string stream; ///< e.g. `Conn::LOG`
  std::string writer; ///< e.g. `Log::WRITER_ASCII`
  std::string filter; ///< e.g. `default`
  std::string path;   ///< e.g. `conn`
  std::vector<log_column> columns;
  /// Each has one value for each column, none where it is unset.
  std::vector<vector> records;

  friend bool operator==(const log_batch&, const log_batch&) = default;
};

/// Reads a batch; its values become what `parse_log_values` makes of them. Never reads beyond
/// `bytes` and allocates in proportion to them. Errors: those of `parse_log_values`; the context
/// names the column or the record, counted from 0, and the byte.
PUBSUB_EXPORT expected<log_batch> parse_log_batch(std::span<const std::byte> bytes);

/// The bytes of a batch, as Zeek 8.2 writes them. Times and lengths of time become seconds in
/// doubles. Errors: invalid_argument (a type that logs cannot hold, a record with another number of
/// values than there are columns, a text or container too long), type_clash (a value of another
/// type than its column); the context names the column and the record.
PUBSUB_EXPORT expected<std::vector<std::byte>> encode_log_batch(const log_batch& batch);

} // namespace pubsub::zeek
