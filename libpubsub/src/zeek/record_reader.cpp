// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/zeek/record_reader.hpp>

#include <utility>

#include <pubsub/zeek/event.hpp>

namespace pubsub::zeek {

namespace {

constexpr std::string_view name_of_fields = "log_fields";
constexpr std::string_view prefix_of_records = "log_";

/// A column as it is announced: its name and its type.
std::optional<log_field> field_from(const data& announced) {
  const auto* const parts = get_if<vector>(announced);
  if (parts == nullptr || parts->size() != 2)
    return {};
  const auto* const name = get_if<std::string>((*parts)[0]);
  const auto* const type = get_if<std::string>((*parts)[1]);
  if (name == nullptr || type == nullptr)
    return {};
  return log_field{*name, *type};
}

std::size_t bytes_of(const log_schema& schema) {
  auto result = schema.path.size();
  for (const auto& each : schema.fields)
    result += each.name.size() + each.type.size();
  return result;
}

} // namespace

std::optional<read_record> record_reader::read(const data& value) {
  auto event = parse_event(value);
  if (!event || !event->name.starts_with(prefix_of_records)) {
    ++others_;
    return {};
  }
  if (event->name == name_of_fields) {
    others_ += learn(event->args) ? 0 : 1;
    return {};
  }
  const auto known = schemas_.find(std::string_view{event->name}.substr(prefix_of_records.size()));
  auto* const values = event->args.size() == 1 ? event->args[0].get_if<vector>() : nullptr;
  if (values == nullptr) {
    ++others_;
    return {};
  }
  if (known == schemas_.end() || known->second.fields.size() != values->size()) {
    ++unknown_;
    return {};
  }
  return read_record{known->second, std::move(*values)};
}

bool record_reader::learn(const vector& args) {
  const auto* const path = args.size() == 2 ? get_if<std::string>(args[0]) : nullptr;
  const auto* const fields = path != nullptr ? get_if<vector>(args[1]) : nullptr;
  if (fields == nullptr)
    return false;
  if (fields->size() > max_columns) {
    ++beyond_limits_;
    return true;
  }
  std::vector<log_field> found;
  for (const auto& each : *fields) {
    auto field = field_from(each);
    if (!field)
      return false;
    found.push_back(std::move(*field));
  }
  keep(*path, std::move(found));
  return true;
}

void record_reader::keep(const std::string& path, std::vector<log_field> fields) {
  const auto known = schemas_.find(path);
  if (known != schemas_.end() && known->second.fields == fields)
    return;
  const auto before = known != schemas_.end() ? bytes_of(known->second) : 0;
  log_schema schema{path, std::move(fields), known != schemas_.end() ? known->second.version : 0};
  const auto bytes = bytes_ - before + bytes_of(schema);
  if (bytes > max_bytes || (known == schemas_.end() && schemas_.size() >= max_logs)) {
    ++beyond_limits_;
    return;
  }
  bytes_ = bytes;
  ++schema.version;
  schemas_.insert_or_assign(path, std::move(schema));
}

} // namespace pubsub::zeek
