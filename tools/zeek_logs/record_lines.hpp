// Records of Zeek's logs as lines of text.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <pubsub/error.hpp>

#include <pubsub/zeek/log_lines.hpp>
#include <pubsub/zeek/record_reader.hpp>

namespace pubsub::zeek {

enum class line_format : std::uint8_t {
  /// As Zeek writes logs (log_lines): a header ahead of the first record, and wherever log or
  /// columns change, without the lines that say when a file was opened and closed.
  tsv,
  /// A line of column names, then records of one log (RFC 4180, with a line feed at the end of
  /// lines): times as `2023-11-14T22:13:20.000001Z`, intervals in seconds, unset columns empty,
  /// members of sets and vectors separated by commas, in which those within them are `\x2c`.
  csv,
};

/// Whether records with these two schemas fit into one table. Errors: invalid_data: another log, or
/// its columns have changed.
expected<void> check_same_table(const log_schema& first, const log_schema& next);

/// Makes lines of records. Bytes that would end a column or a line, or steer a terminal, are
/// written as `\xNN`.
class record_lines {
public:
  explicit record_lines(line_format format);

  /// Appends the record, behind what has to stand before it. Errors: for CSV those of
  /// `check_same_table`.
  expected<void> add(const read_record& record, std::string& out);

private:
  void add_header(std::string& out) const;

  const line_format format_;
  const std::unique_ptr<const log_lines> tsv_;
  log_schema last_; // version 0 before the first record
};

} // namespace pubsub::zeek
