// SPDX-License-Identifier: BSD-3-Clause
#include "zeek_logs/event_dump.hpp"

#include "zeek_logs/json_value_reader.hpp"
#include "zeek_logs/log_text.hpp"

#include <utility>

namespace pubsub::zeek {

namespace sj = simdjson::ondemand;

struct event_dump_parser::state {
  json_line line;
};

event_dump_parser::event_dump_parser() : state_(std::make_unique<state>()) {}
event_dump_parser::event_dump_parser(event_dump_parser&&) noexcept = default;
event_dump_parser& event_dump_parser::operator=(event_dump_parser&&) noexcept = default;
event_dump_parser::~event_dump_parser() = default;

namespace {

expected<void> read_args(sj::value value, vector& out) {
  sj::object object;
  if (value.get_object().get(object))
    return error{errc::invalid_data, "'args' is not an object"};
  return for_each_member(object, [&](const std::string& name, sj::value member) -> expected<void> {
    auto arg = read_json_value(member, hint_of(name), json_source::event_dump, transport::unknown);
    if (!arg)
      return error{arg.error().code(), "argument " + excerpt(name) + ": " + arg.error().context()};
    out.push_back(std::move(*arg));
    return {};
  });
}

expected<void> read_member(const std::string& name, sj::value member, dumped_event& out) {
  if (name == "args")
    return read_args(member, out.args);
  auto value = read_json_value(member, name == "ts" ? name_hint::time : name_hint::nothing,
                               json_source::log, transport::unknown);
  if (!value)
    return value.error();
  if (name == "event") {
    auto text = value->get_if<std::string>();
    if (!text || text->empty())
      return error{errc::invalid_data, "'event' is not the name of an event"};
    out.name = std::move(*text);
  } else if (name == "ts") {
    auto time = value->get_if<timestamp>();
    if (!time)
      return error{errc::invalid_data, "'ts' is not a time"};
    out.time = *time;
  }
  return {};
}

} // namespace

expected<std::optional<dumped_event>> event_dump_parser::parse(std::string_view line) {
  if (line.find_first_not_of(" \t") == std::string_view::npos)
    return std::optional<dumped_event>{};
  auto document = state_->line.parse(line);
  if (!document)
    return document.error();
  sj::object object;
  if (auto failure = document->get_object().get(object))
    return json_error(failure);
  dumped_event event;
  auto read = for_each_member(object, [&](const std::string& name, sj::value member) {
    return read_member(name, member, event);
  });
  if (!read)
    return read.error();
  if (!json_line::at_end(*document))
    return error{errc::invalid_json, "more text after the JSON object"};
  if (event.name.empty())
    return error{errc::invalid_data, "the object has no member 'event'"};
  return std::optional{std::move(event)};
}

std::string event_topic(std::string_view name) {
  return "zeek/events/" + std::string{name};
}

} // namespace pubsub::zeek
