// SPDX-License-Identifier: BSD-3-Clause
#include "filter/message_selector.hpp"

namespace pubsub {

using namespace conditions;

message_selector::finding message_selector::look_at(std::string_view topic,
                                                    std::span<const std::byte> value) {
  const auto& program = condition_.program();
  encoded_record record{value};
  if (program.named().empty())
    return {program.judge(topic, record, {})};
  if (!program.columns().empty()) {
    std::string_view path;
    members columns;
    const bool announces = record.announces_columns(path, columns);
    return {program.judge(topic, record, program.given_places()), announces};
  }
  if (columns_.learn(topic, record))
    return {program.judge(topic, record, program.given_places()), true};
  return {program.judge(topic, record, places_of(topic, record))};
}

/// Those of no log are nowhere.
std::span<const column_place> message_selector::places_of(std::string_view topic,
                                                          encoded_record& record) {
  const auto& program = condition_.program();
  const auto* const log = columns_.find(topic, record);
  return log == nullptr ? program.given_places() : places_.of(columns_, *log, program.named());
}

} // namespace pubsub
