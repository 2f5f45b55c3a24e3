// SPDX-License-Identifier: BSD-3-Clause
#include "filter/message_selector.hpp"

#include "data/encoded.hpp"

namespace pubsub {

using namespace conditions;

namespace {

/// The next of the columns announced: a vector of name and type. False where it is something else.
bool take_column(encoded_record& record, const std::byte*& at, scalar& name, scalar& type) {
  const auto* const first = at;
  members pair;
  if (record.open_vector(first, pair) != look::yes || pair.count != 2)
    return false;
  const auto* part = pair.first;
  if (record.load(part, name) != look::yes || name.kind != scalar_kind::text ||
      record.skip(part) != look::yes || record.load(part, type) != look::yes ||
      type.kind != scalar_kind::text)
    return false;
  return record.skip(at) == look::yes;
}

} // namespace

bool message_selector::wants(std::string_view topic, std::span<const std::byte> value) {
  const auto& program = condition_.program();
  encoded_record record{value};
  if (program.named().empty())
    return condition_.passes(program.judge(topic, record, {}));
  std::string_view path;
  members columns;
  if (record.announces_columns(path, columns)) {
    if (program.columns().empty() && path.size() <= max_path_bytes && columns.count <= max_columns)
      learn(topic, path, record, columns);
    return true;
  }
  const auto places = program.columns().empty() ? places_of(topic, record) : program.given_places();
  return condition_.passes(program.judge(topic, record, places));
}

/// Those of no log are nowhere.
std::span<const column_place> message_selector::places_of(std::string_view topic,
                                                          encoded_record& record) {
  std::string_view event;
  if (record.event_name(event) == look::yes)
    if (const auto* known = find(topic, event))
      return known->places;
  return condition_.program().given_places();
}

message_selector::log* message_selector::find(std::string_view topic,
                                              std::string_view event) noexcept {
  const auto is_it = [&](const log& x) { return x.event == event && x.topic == topic; };
  if (last_ < logs_.size() && is_it(logs_[last_]))
    return &logs_[last_];
  for (std::size_t i = 0; i < logs_.size(); ++i)
    if (is_it(logs_[i])) {
      last_ = i;
      return &logs_[i];
    }
  return nullptr;
}

/// The first column of a name counts. What cannot be read announces nothing.
void message_selector::learn(std::string_view topic, std::string_view path, encoded_record& record,
                             members columns) {
  const auto named = condition_.program().named();
  std::vector<column_place> places(named.size(), no_place);
  const auto* at = columns.first;
  for (column_place place = 0; place < columns.count; ++place) {
    scalar name;
    scalar type;
    if (!take_column(record, at, name, type))
      return;
    for (std::size_t i = 0; i < named.size(); ++i)
      if (places[i] == no_place && named[i].name == name.text && named[i].accepts(type.text))
        places[i] = place;
  }
  const auto event = std::string{log_event_prefix} + std::string{path};
  if (auto* known = find(topic, event))
    known->places = std::move(places);
  else if (logs_.size() < max_logs)
    logs_.push_back({std::string{topic}, event, std::move(places)});
}

} // namespace pubsub
