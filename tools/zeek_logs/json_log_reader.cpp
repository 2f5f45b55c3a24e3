// SPDX-License-Identifier: BSD-3-Clause
#include "zeek_logs/log_reader.hpp"

#include "zeek_logs/json_value_reader.hpp"
#include "zeek_logs/log_text.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace pubsub::zeek {

namespace sj = simdjson::ondemand;

namespace {

constexpr std::size_t max_columns = 4096;

std::string type_name(const data& x);

// The type of what is set in a vector: `any` where it differs, nothing where nothing is set.
std::string element_type(const vector& elements) {
  std::string result;
  for (const auto& each : elements) {
    if (each.is<none>())
      continue;
    auto type = type_name(each);
    if (!result.empty() && type != result)
      return "any";
    result = std::move(type);
  }
  return result;
}

// The type a TSV log would name for a value.
std::string type_name(const data& x) {
  switch (x.type()) {
  case data_type::boolean:
    return "bool";
  case data_type::count:
    return "count";
  case data_type::integer:
    return "int";
  case data_type::real:
    return "double";
  case data_type::string:
    return "string";
  case data_type::address:
    return "addr";
  case data_type::port:
    return "port";
  case data_type::timestamp:
    return "time";
  case data_type::timespan:
    return "interval";
  case data_type::enum_value:
    return "enum";
  case data_type::vector:
    return "vector[" + element_type(x.get<vector>()) + "]";
  default:
    return "any";
  }
}

// How far a number type reaches; 0 for what is no number.
int number_rank(std::string_view type) {
  return type == "count" ? 1 : type == "int" ? 2 : type == "double" ? 3 : 0;
}

// The type of a column that held `old` so far and now a value of type `now`.
std::string widened(const std::string& old, const std::string& now) {
  if (old == now || now == "vector[]")
    return old.empty() ? now : old;
  if (old.empty() || (old == "vector[]" && now.starts_with("vector[")))
    return now;
  auto old_rank = number_rank(old);
  auto now_rank = number_rank(now);
  if (old_rank > 0 && now_rank > 0)
    return old_rank > now_rank ? old : now;
  return "any";
}

// Gives a number the type of its column.
void widen(data& x, std::string_view type) {
  auto small = x.get_if<count>();
  if (small && type == "int" && *small <= static_cast<count>(INT64_MAX))
    x = data{static_cast<integer>(*small)};
  else if (small && type == "double")
    x = data{static_cast<real>(*small)};
  else if (auto negative = x.get_if<integer>(); negative && type == "double")
    x = data{static_cast<real>(*negative)};
}

class json_parser final : public log_parser {
public:
  explicit json_parser(std::string path) { schema_.path = std::move(path); }

  expected<std::optional<vector>> parse(std::string_view line) override {
    if (line.find_first_not_of(" \t") == std::string_view::npos)
      return std::optional<vector>{};
    auto document = line_.parse(line);
    if (!document)
      return document.error();
    if (auto done = read_members(*document); !done)
      return done.error();
    return std::optional{take_record()};
  }

private:
  // Reads the whole line before anything is kept, so that a bad one changes nothing.
  expected<void> read_members(sj::document& document) {
    members_.clear();
    sj::object object;
    if (auto failure = document.get_object().get(object))
      return json_error(failure);
    auto read = for_each_member(object, [&](std::string name, sj::value member) -> expected<void> {
      auto value = read_json_value(member, hint_of(name), json_source::log, transport::unknown);
      if (!value)
        return error{value.error().code(),
                     "member " + excerpt(name) + ": " + value.error().context()};
      members_.emplace_back(std::move(name), std::move(*value));
      return {};
    });
    if (!read)
      return read;
    if (!json_line::at_end(document))
      return error{errc::invalid_json, "more text after the JSON object"};
    if (new_columns() > max_columns - schema_.fields.size())
      return error{errc::limit_exceeded, "the log has more than 4096 different members"};
    set_protocols();
    return {};
  }

  std::size_t new_columns() const {
    return static_cast<std::size_t>(
        std::count_if(members_.begin(), members_.end(),
                      [&](const auto& member) { return !columns_.contains(member.first); }));
  }

  void set_protocols() {
    auto protocol = transport::unknown;
    for (const auto& [name, value] : members_)
      if (auto label = value.get_if<enum_value>(); label && name == "proto")
        protocol = parse_transport(label->name());
    for (auto& [name, value] : members_)
      if (auto x = value.get_if<port>())
        *x = port{x->number(), protocol};
  }

  vector take_record() {
    vector values(schema_.fields.size());
    for (auto& [name, value] : members_) {
      auto text = value.get_if<std::string>();
      if (text && name == "_path") {
        if (*text != schema_.path) {
          schema_.path = *text;
          ++schema_.version;
        }
        continue;
      }
      auto index = column(name);
      values.resize(schema_.fields.size());
      if (!value.is<none>()) {
        auto& type = schema_.fields[index].type;
        if (auto wider = widened(type, type_name(value)); wider != type) {
          type = std::move(wider);
          ++schema_.version;
        }
        widen(value, type);
      }
      values[index] = std::move(value);
    }
    return values;
  }

  std::size_t column(const std::string& name) {
    auto [known, added] = columns_.try_emplace(name, schema_.fields.size());
    if (added) {
      schema_.fields.push_back({name, {}});
      ++schema_.version;
    }
    return known->second;
  }

  json_line line_;
  std::vector<std::pair<std::string, data>> members_; // of the line at hand
  std::unordered_map<std::string, std::size_t> columns_;
};

} // namespace

std::unique_ptr<log_parser> make_json_log_parser(std::string path) {
  return std::make_unique<json_parser>(std::move(path));
}

} // namespace pubsub::zeek
