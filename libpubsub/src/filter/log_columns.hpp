// What logs have announced of their columns.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/condition.hpp>

#include "filter/encoded_record.hpp"
#include "filter/program.hpp"

namespace pubsub::conditions {

/// Learns the columns of logs from the events `log_fields`, by topic and path; those of logs beyond
/// the bounds stay unknown. Not thread-safe.
class log_columns {
public:
  /// Logs whose columns are remembered.
  static constexpr std::size_t max_logs = 256;
  /// Bytes of the path of such a log, columns of it, and bytes of all names and types.
  static constexpr std::size_t max_path_bytes = 256;
  static constexpr std::size_t max_columns = 1024;
  static constexpr std::size_t max_bytes = std::size_t{1} << 20U;

  struct log {
    std::string topic;
    std::string event; ///< `log_` and the path
    std::vector<record_column> columns;
    std::uint64_t version = 0; ///< rises whenever the columns are announced anew
  };

  /// Whether the message announces columns; they are learnt, if they can be.
  bool learn(std::string_view topic, encoded_record& record);
  /// The log that the record belongs to; null if it is of none that is known. Its number stays.
  const log* find(std::string_view topic, encoded_record& record) noexcept;
  std::size_t number_of(const log& x) const noexcept {
    return static_cast<std::size_t>(&x - logs_.data());
  }

private:
  log* find(std::string_view topic, std::string_view event) noexcept;
  void note(std::string_view topic, std::string_view path, std::vector<record_column> columns,
            std::size_t bytes);

  std::vector<log> logs_;
  std::size_t bytes_ = 0; // of all names and types
  std::size_t last_ = 0;  // of logs_, the one found last
};

/// Of named columns, where they are in each log. Not thread-safe.
class places_by_log {
public:
  /// `which` is one of `all`; valid until the next call.
  std::span<const column_place> of(const log_columns& all, const log_columns::log& which,
                                   std::span<const named_column> named);

private:
  /// As of a version of the log with that number.
  struct entry {
    std::uint64_t version = 0;
    std::vector<column_place> places;
  };

  std::vector<entry> entries_;
};

/// Where each of the named columns is among those: the first of its name that has a type it can be
/// about.
std::vector<column_place> places_in(const std::vector<record_column>& columns,
                                    std::span<const named_column> named);

} // namespace pubsub::conditions
