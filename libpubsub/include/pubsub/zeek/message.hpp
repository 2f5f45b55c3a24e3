// All that Zeek sends through Broker, as values: events, logs, identifiers and batches of them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <pubsub/data.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>
#include <pubsub/value/enum_value.hpp>
#include <pubsub/zeek/event.hpp>
#include <pubsub/zeek/log.hpp>

namespace pubsub::zeek {

/// Announces a log: what its records hold. Zeek sends one to each new peer, whatever that has
/// subscribed to, before the first record.
struct log_create {
  enum_value stream; ///< e.g. `Conn::LOG`
  enum_value writer; ///< e.g. `Log::WRITER_ASCII`
  /// Where the log goes, e.g. `conn`; empty where the sender does not tell.
  std::string path;
  /// One a column. Types as in the header of a log: `count`, `set[addr]`, `vector[string]`.
  std::vector<log_field> fields;

  friend bool operator==(const log_create&, const log_create&) = default;
};

/// One record of a log.
struct log_write {
  enum_value stream;
  enum_value writer;
  std::string path;
  /// The record in Zeek's own binary format, for `parse_log_values`.
  std::string serialized;

  friend bool operator==(const log_write&, const log_write&) = default;
};

/// A global variable of a script and its new value.
struct identifier_update {
  std::string id;
  data value;

  friend bool operator==(const identifier_update&, const identifier_update&) = default;
};

struct batch;
using message = std::variant<event, log_create, log_write, identifier_update, batch>;

/// Messages that travel together; batches among them are possible.
struct batch {
  std::vector<message> messages;

  PUBSUB_EXPORT friend bool operator==(const batch& x, const batch& y);
};

/// Reads any Zeek message. Elements beyond those known are ignored, as in Zeek; one bad member
/// makes a batch bad. Errors: invalid_message; the context names the message and what is wrong
/// with it, e.g. `LogWrite: path is not a string`.
PUBSUB_EXPORT expected<message> parse_message(const data_view& x);

/// The messages in `x` in their order, each batch replaced by what is in it.
PUBSUB_EXPORT std::vector<message> flatten(message x);

/// Reads the record of a `log_write`: one value for each column, none where it is unset. bool, int,
/// count, double, string, addr, subnet, port and enum become what they are called here; time and
/// interval, doubles in seconds, become timestamp and timespan, rounded to the nanosecond; file and
/// func become string, set and vector containers of the same. Columns have no names here: they are
/// those of the `log_create` with the same stream, writer and path.
/// Never reads beyond `serialized` and allocates in proportion to it. Errors: end_of_file,
/// invalid_tag (no such type), invalid_data (a value that is none of its type, bytes behind the
/// last one), duplicate_key, limit_exceeded (more than 64 containers inside each other),
/// not_supported (a type that logs cannot hold); the context names the column, counted from 0, and
/// the byte.
PUBSUB_EXPORT expected<vector> parse_log_values(std::span<const std::byte> serialized);
/// As above, for `log_write::serialized`.
PUBSUB_EXPORT expected<vector> parse_log_values(std::string_view serialized);

} // namespace pubsub::zeek
