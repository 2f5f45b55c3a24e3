// SPDX-License-Identifier: BSD-3-Clause
#include "filter/log_columns.hpp"

#include <utility>

namespace pubsub::conditions {

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

std::size_t bytes_of(const std::vector<record_column>& columns) noexcept {
  std::size_t result = 0;
  for (const auto& each : columns)
    result += sizeof each + each.name.size() + each.type.size();
  return result;
}

} // namespace

/// What cannot be read announces nothing.
bool log_columns::learn(std::string_view topic, encoded_record& record) {
  std::string_view path;
  members announced;
  if (!record.announces_columns(path, announced))
    return false;
  if (path.size() > max_path_bytes || announced.count > max_columns)
    return true;
  std::vector<record_column> columns;
  const auto* at = announced.first;
  for (std::uint32_t left = announced.count; left > 0; --left) {
    scalar name;
    scalar type;
    if (!take_column(record, at, name, type))
      return true;
    columns.push_back({std::string{name.text}, std::string{type.text}});
  }
  const auto bytes = bytes_of(columns);
  note(topic, path, std::move(columns), bytes);
  return true;
}

void log_columns::note(std::string_view topic, std::string_view path,
                       std::vector<record_column> columns, std::size_t bytes) {
  const auto event = std::string{log_event_prefix} + std::string{path};
  auto* known = find(topic, event);
  const auto before = known != nullptr ? bytes_of(known->columns) : 0;
  if (bytes_ - before + bytes > max_bytes || (known == nullptr && logs_.size() >= max_logs))
    return;
  if (known == nullptr)
    known = &logs_.emplace_back(log{std::string{topic}, event, {}, 0});
  bytes_ += bytes - before;
  ++known->version;
  known->columns = std::move(columns);
}

const log_columns::log* log_columns::find(std::string_view topic, encoded_record& record) noexcept {
  std::string_view event;
  return record.event_name(event) == look::yes ? find(topic, event) : nullptr;
}

log_columns::log* log_columns::find(std::string_view topic, std::string_view event) noexcept {
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

std::vector<column_place> places_in(const std::vector<record_column>& columns,
                                    std::span<const named_column> named) {
  std::vector<column_place> result(named.size(), no_place);
  for (column_place place = 0; place < columns.size(); ++place)
    for (std::size_t i = 0; i < named.size(); ++i)
      if (result[i] == no_place && named[i].name == columns[place].name &&
          named[i].accepts(columns[place].type))
        result[i] = place;
  return result;
}

std::span<const column_place> places_by_log::of(const log_columns& all,
                                                const log_columns::log& which,
                                                std::span<const named_column> named) {
  const auto number = all.number_of(which);
  if (number >= entries_.size())
    entries_.resize(number + 1);
  auto& known = entries_[number];
  if (known.version != which.version)
    known = {which.version, places_in(which.columns, named)};
  return known.places;
}

} // namespace pubsub::conditions
