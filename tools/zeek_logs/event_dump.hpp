// Dumps of Zeek script events, one JSON object a line.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <pubsub/data.hpp>
#include <pubsub/error.hpp>
#include <pubsub/value/time.hpp>

namespace pubsub::zeek {

/// An event as it stood in a dump.
struct dumped_event {
  std::string name;
  vector args;
  std::optional<timestamp> time;
};

/// Only where simdjson was found. Reads lines such as
/// `{"ts":1254722767.5,"event":"new_connection","args":{"c":{...}}}`. `args` in order become the
/// positional arguments; their names are lost. Values as in make_json_log_parser, and besides:
/// `{"port":53,"proto":"udp"}` -> port; durations such as `"2.0 mins 1.5 secs"` -> timespan;
/// qualified labels such as `"Analyzer::ANALYZER_SMTP"` -> enum_value; other objects -> table from
/// string, as their unset fields are not in the dump and positions are unknown.
class event_dump_parser {
public:
  event_dump_parser();
  event_dump_parser(event_dump_parser&&) noexcept;
  event_dump_parser& operator=(event_dump_parser&&) noexcept;
  ~event_dump_parser();

  /// The event on this line; nothing for an empty line. Never throws on any bytes. Errors:
  /// invalid_json, invalid_data (no `event` name, `ts` that is no time).
  expected<std::optional<dumped_event>> parse(std::string_view line);

private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Where events of a dump are published: `zeek/events/<name>`.
std::string event_topic(std::string_view name);

} // namespace pubsub::zeek
