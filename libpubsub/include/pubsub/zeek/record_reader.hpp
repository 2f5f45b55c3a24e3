// Reads records of Zeek's logs from messages, by the columns that were announced before them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <pubsub/data.hpp>
#include <pubsub/export.hpp>
#include <pubsub/zeek/log.hpp>

namespace pubsub::zeek {

/// A record, and the columns of its log.
struct read_record {
  const log_schema& schema; ///< stays until the next `read`
  vector values;            ///< as many as the schema has fields
};

/// Learns the columns of logs from the events `log_fields`, and reads the events `log_<path>` by
/// them. What is kept of announcements is bounded, whichever node sends them.
class PUBSUB_EXPORT record_reader {
public:
  /// Logs whose columns are kept, columns of a log, and bytes of all paths, names and types.
  static constexpr std::size_t max_logs = 512;
  static constexpr std::size_t max_columns = 4096;
  static constexpr std::size_t max_bytes = std::size_t{4} << 20U;

  /// The record in a message's value; nothing where it announces columns, is no record (`others`),
  /// or one whose columns are not known (`unknown`), for example because there were too many
  /// (`beyond_limits`).
  std::optional<read_record> read(const data& value);

  std::uint64_t others() const noexcept { return others_; }
  std::uint64_t unknown() const noexcept { return unknown_; }
  /// Announcements that were passed over because of the bounds.
  std::uint64_t beyond_limits() const noexcept { return beyond_limits_; }

private:
  bool learn(const vector& args);
  void keep(const std::string& path, std::vector<log_field> fields);

  std::map<std::string, log_schema, std::less<>> schemas_; // by path
  std::size_t bytes_ = 0;                                  // of all paths, names and types
  std::uint64_t others_ = 0;
  std::uint64_t unknown_ = 0;
  std::uint64_t beyond_limits_ = 0;
};

} // namespace pubsub::zeek
