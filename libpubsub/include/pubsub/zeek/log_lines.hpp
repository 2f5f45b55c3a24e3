// Records of a log as the lines of a file, byte for byte as Zeek's ASCII writer has them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <pubsub/data.hpp>
#include <pubsub/export.hpp>
#include <pubsub/zeek/log.hpp>

namespace pubsub::zeek {

/// The lines of one format. Stateless; `out` is what they are appended to.
class PUBSUB_EXPORT log_lines {
public:
  virtual ~log_lines();

  /// What stands before the first record. `opened`: the time of day, as `2023-11-14-22-13-20`;
  /// without it the line `#open` is left out.
  virtual void add_header(const log_schema& schema, std::string_view opened,
                          std::string& out) const = 0;
  /// One line for a record; as many values as the schema has fields.
  virtual void add_record(const log_schema& schema, const vector& values,
                          std::string& out) const = 0;
  /// What stands behind the last record.
  virtual void add_end(std::string_view closed, std::string& out) const = 0;
};

/// Tab-separated values with the header of Zeek's logs. Values are written as what they are: what
/// logs do not hold, such as containers within containers, is written one after the other.
PUBSUB_EXPORT std::unique_ptr<log_lines> make_tsv_lines();

/// How times stand in JSON: `1700000000.000001`, `1700000000000`, `"2023-11-14T22:13:20.000001Z"`.
enum class json_times : std::uint8_t { epoch, millis, iso8601 };

struct json_lines_options {
  json_times times = json_times::epoch;
  /// Whether unset columns are there, as null.
  bool with_unset = false;
};

/// An object a line, without header and end.
PUBSUB_EXPORT std::unique_ptr<log_lines> make_json_lines(const json_lines_options& options);

} // namespace pubsub::zeek
