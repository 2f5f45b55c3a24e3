// Decides for a subscriber which messages fulfil its condition; learns the columns of records.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/condition.hpp>

#include "filter/program.hpp"

namespace pubsub {

/// A condition, and where the columns it names are in the records of each log that has announced
/// them. A message that announces columns passes a condition that names some: without it the
/// subscriber could not say what the records hold. Not thread-safe.
class message_selector {
public:
  /// Logs whose columns are remembered; those of others stay unknown.
  static constexpr std::size_t max_logs = 256;
  /// Bytes of the path of such a log, and columns of it; what announces more is not learnt.
  static constexpr std::size_t max_path_bytes = 256;
  static constexpr std::size_t max_columns = 1024;

  explicit message_selector(condition what) : condition_(std::move(what)) {}

  /// Whether the subscriber gets the message with this topic and this value, unchecked bin::v1.
  bool wants(std::string_view topic, std::span<const std::byte> value);

private:
  struct log {
    std::string topic;
    std::string event; ///< `log_` and the path
    std::vector<conditions::column_place> places;
  };

  void learn(std::string_view topic, std::string_view path, conditions::encoded_record& record,
             conditions::members columns);
  std::span<const conditions::column_place> places_of(std::string_view topic,
                                                      conditions::encoded_record& record);
  log* find(std::string_view topic, std::string_view event) noexcept;

  const condition condition_;
  std::vector<log> logs_;
  std::size_t last_ = 0; ///< of logs_, the one found last
};

} // namespace pubsub
