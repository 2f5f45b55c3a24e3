// Zeek's log files as typed records: TSV and JSON, line by line.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <pubsub/data.hpp>
#include <pubsub/error.hpp>
#include <pubsub/zeek/log.hpp>

#include "zeek_logs/line_reader.hpp"

namespace pubsub::zeek {

/// Turns the lines of one log into records; keeps what the header said between them. Never throws
/// on any bytes; a bad line leaves it ready for the next one.
class log_parser {
public:
  virtual ~log_parser() = default;

  /// The record on this line, one value a column (none where unset); nothing for header lines,
  /// comments and empty lines. Errors: invalid_data, invalid_json, limit_exceeded; the context
  /// names column and text.
  virtual expected<std::optional<vector>> parse(std::string_view line) = 0;
  const log_schema& schema() const noexcept { return schema_; }

protected:
  log_schema schema_;
};

/// Reads TSV logs, typed by their own header, which may change at any line:
///   time -> timestamp, interval -> timespan (both from the decimal digits, exact to the
///   nanosecond; a tenth digit rounds), addr -> address, subnet -> subnet, enum -> enum_value,
///   count, int, double and bool -> count, integer, real, boolean; string, func, file and pattern
///   -> string with `\xNN` undone; set[T] and table[T] -> set, vector[T] -> vector.
/// The log holds only the number of a port: its protocol is that of the record's `proto` column
/// where that says tcp, udp or icmp, otherwise unknown. A type with another name is reported once,
/// at the header, and read as string. `path` holds until a #path line says otherwise.
std::unique_ptr<log_parser> make_tsv_log_parser(std::string path = {});

/// Only where simdjson was found. Reads JSON logs, one object a line. They carry no types, so a
/// value's type follows from itself and from the last part of its name (after the last dot):
///   `ts`, `t`, `*_ts`, `*_time`, `last_active`, `not_valid_*`: number or ISO 8601 text ->
///   timestamp; `duration`, `rtt`, `lease_time`, `*_duration`, `*_interval`: number -> timespan;
///   `*_h`, `host`, `addr`, `*_addr`, `*_host(s)`, `*_ip`: text that is an address -> address;
///   `*_p`, `port`: integer up to 65535 -> port with the protocol of the `proto` member; `proto` ->
///   enum; other integers -> count, or integer if negative; other numbers -> real; arrays ->
///   vector; objects -> table of string; null -> none. A member `_path` names the log.
/// Columns stand in order of first appearance, a later new member adds one at the end, up to 4096.
/// A column keeps its type: count widens to int and double where a value asks for it, anything else
/// becomes `any`.
std::unique_ptr<log_parser> make_json_log_parser(std::string path = {});

/// A record and the number of the line it stood on.
struct log_record {
  std::uint64_t line = 0;
  vector values;
};

struct log_options {
  reading mode = reading::whole_file;
  /// Parser for logs that start with `{`: `make_json_log_parser`, or null to refuse them.
  std::unique_ptr<log_parser> (*json_parser)(std::string path) = nullptr;
};

/// Reads a log file record by record, TSV or JSON by its first byte.
class log_reader {
public:
  /// Errors: cannot_open_file.
  static expected<log_reader> open(std::string file, const log_options& options = {});

  /// The next record; nothing at the end, or where `follow` has to wait for more. After an error,
  /// calling again goes on with the next line. Errors: those of log_parser::parse and
  /// line_reader::next, not_supported for JSON without a parser; the context is `file:line: cause`.
  expected<std::optional<log_record>> next();
  /// Holds for the record returned last.
  const log_schema& schema() const noexcept;
  const line_reader& lines() const noexcept { return lines_; }

private:
  log_reader(line_reader lines, const log_options& options);

  line_reader lines_;
  log_options options_;
  std::unique_ptr<log_parser> parser_;
};

/// The log a file belongs to: `conn` for `/var/log/zeek/conn.2024-01-01.log`.
std::string log_path_of(std::string_view file);

} // namespace pubsub::zeek
