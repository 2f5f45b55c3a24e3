// Decides for a subscriber which messages fulfil its condition.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <pubsub/condition.hpp>

#include "filter/log_columns.hpp"
#include "filter/program.hpp"

namespace pubsub {

/// A condition, and where the columns it names are in the records of each log that has announced
/// them. A message that announces columns passes a condition that names some: without it the
/// subscriber could not say what the records hold. Not thread-safe.
class message_selector {
public:
  explicit message_selector(condition what) : condition_(std::move(what)) {}

  /// Whether the subscriber gets the message with this topic and this value, unchecked bin::v1.
  bool wants(std::string_view topic, std::span<const std::byte> value) {
    const auto found = look_at(topic, value);
    return found.announces || condition_.passes(found.answer);
  }
  /// What such a message answers. Columns are learnt from it as well.
  condition_verdict judge(std::string_view topic, std::span<const std::byte> value) {
    return look_at(topic, value).answer;
  }

private:
  struct finding {
    condition_verdict answer;
    bool announces = false; ///< it names columns, and the condition does so, too
  };

  finding look_at(std::string_view topic, std::span<const std::byte> value);
  std::span<const conditions::column_place> places_of(std::string_view topic,
                                                      conditions::encoded_record& record);

  const condition condition_;
  conditions::log_columns columns_;
  conditions::places_by_log places_;
};

} // namespace pubsub
