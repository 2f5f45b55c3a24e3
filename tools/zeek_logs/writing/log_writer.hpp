// Records into files as a Zeek logger writes them: one for each log, rotated.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/error.hpp>

#include "zeek_logs/log_column.hpp"
#include "zeek_logs/writing/log_file.hpp"
#include <pubsub/zeek/log_lines.hpp>
#include <pubsub/zeek/record_reader.hpp>

namespace pubsub::zeek {

/// What became of records.
struct log_totals {
  std::uint64_t records = 0;  ///< were taken
  std::uint64_t lost = 0;     ///< of those: could not be written
  std::uint64_t files = 0;    ///< begun
  std::uint64_t misfits = 0;  ///< have a value that is not of its column's type
  std::uint64_t bad_logs = 0; ///< are of a log that gets no file: its name, or too many logs
  std::uint64_t restless = 0; ///< are of a log whose columns change all the time
};

struct log_writer_options {
  std::string directory = ".";
  std::shared_ptr<const log_lines> lines = make_tsv_lines();
  /// Files are rotated at multiples of this since midnight, local time; 0: never by themselves.
  std::chrono::seconds rotate{0};
};

/// Writes the records of the log `conn` to `conn.log`. A file ends, and is renamed to
/// `conn.2026-11-27-21-00-00.log` after the time at which it began (local), when it is rotated, and
/// when the columns of its log change; the next record begins another one. A file that is there
/// already when a log begins is renamed after the time of its last change. No name that a record
/// brings leads out of the directory, and no file is ever overwritten. Not thread-safe; the times
/// given never decrease, or files have wrong names.
class log_writer {
public:
  using time_point = std::chrono::system_clock::time_point;

  /// Logs that have a file; records of others are counted.
  static constexpr std::size_t max_logs = 512;
  /// How often columns of logs may change within a minute, all logs together.
  static constexpr unsigned max_changes_a_minute = 120;

  /// Errors: cannot_write_file (the directory).
  static expected<log_writer> open(log_writer_options options, time_point now);

  /// Takes a record; it is in the file after the next `tick` or `close`. Errors: cannot_write_file.
  expected<void> write(const read_record& record, time_point now);
  /// To be called each second or so: writes what was taken, and rotates if it is time. Errors:
  /// cannot_write_file.
  expected<void> tick(time_point now);
  /// Ends all files; logs go on in new ones. Errors: cannot_write_file.
  expected<void> rotate(time_point now);
  /// Ends all files; where they are rotated, they get their last name. Errors: the first of those
  /// that there were, cannot_write_file.
  expected<void> close(time_point now);

  log_totals totals() const;
  /// Why a record was a misfit, for the first of them.
  const std::string& first_misfit() const noexcept { return first_misfit_; }

private:
  struct log {
    std::string name; // of its file, without the ending
    log_schema schema;
    std::vector<std::optional<column_type>> types;
    std::optional<log_file> file;
    time_point since; // of the file's name
  };

  log_writer(log_writer_options options, log_directory directory, time_point now);

  log* find_log(const log_schema& schema, time_point now);
  expected<bool> change_columns(log& x, const log_schema& schema, time_point now);
  bool fits(const log& x, const vector& values);
  expected<void> begin_file(log& x, time_point now);
  expected<void> end_file(log& x, time_point now);
  expected<void> move_file(log& x, time_point now);
  expected<void> for_each_log(const std::function<expected<void>(log&)>& action);

  log_writer_options options_;
  std::unique_ptr<log_directory> directory_;     // stays where files look for it
  std::map<std::string, log, std::less<>> logs_; // by path
  time_point next_rotation_;
  time_point minute_; // of the changes that are counted
  unsigned changes_ = 0;
  log_totals totals_;
  std::string first_misfit_;
};

/// The name of the file of a log, without its ending: letters, digits, `_`, `-`, and dots behind
/// the first byte stay, every other byte is `%NN`. Nothing where it is empty or longer than a
/// file's name may be.
std::optional<std::string> file_name_of(std::string_view path);

/// When files are rotated next, after `now`: a multiple of `interval` since midnight, local time.
log_writer::time_point next_rotation(log_writer::time_point now, std::chrono::seconds interval);

} // namespace pubsub::zeek
