// JSON values of Zeek logs and event dumps, typed by what they and their names look like.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <simdjson.h>

#include <pubsub/data.hpp>
#include <pubsub/error.hpp>

namespace pubsub::zeek {

/// What a member's name says about its value.
enum class name_hint : std::uint8_t { nothing, time, interval, address, port, protocol };
name_hint hint_of(std::string_view name);

/// Whether texts and objects that only event dumps hold are recognised.
enum class json_source : std::uint8_t { log, event_dump };

/// Reads one value and what is below it, at most 64 levels. Ports get `protocol`. Errors:
/// invalid_json, limit_exceeded.
expected<data> read_json_value(simdjson::ondemand::value value, name_hint hint, json_source source,
                               transport protocol, unsigned depth = 0);

/// Owns the parser and the padded copy of a line that simdjson needs; reused from line to line.
class json_line {
public:
  /// The document on `line`, valid until the next call.
  expected<simdjson::ondemand::document> parse(std::string_view line);
  /// True if nothing follows the value that was read.
  static bool at_end(simdjson::ondemand::document& document);

private:
  simdjson::ondemand::parser parser_;
  std::string padded_;
};

error json_error(simdjson::error_code code);

/// Calls `visit(key, value)` for each member of an object until it returns an error.
template <class F>
expected<void> for_each_member(simdjson::ondemand::object& object, F visit) {
  for (auto item : object) {
    simdjson::ondemand::field field;
    std::string_view key;
    if (auto failure = std::move(item).get(field))
      return json_error(failure);
    if (auto failure = field.unescaped_key().get(key))
      return json_error(failure);
    if (auto done = visit(std::string{key}, field.value()); !done)
      return done;
  }
  return {};
}

} // namespace pubsub::zeek
