// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/redis/redis.hpp"

#include <chrono>

#include "base/printable.hpp"
#include "bridge/redis/redis_list_reader.hpp"
#include "bridge/redis/redis_reader.hpp"
#include "bridge/redis/redis_writer.hpp"

namespace pubsub::bridge {

namespace {

expected<redis_url> check(const redis& options) {
  if (options.field.empty() || options.field == "key" || options.field.starts_with("pubsub-"))
    return error{errc::invalid_argument,
                 "the field of entries has a name, other than key and pubsub-..."};
  if (options.list != redis_list::none && options.max_length > 0)
    return error{errc::invalid_argument, "max_length: of streams, and not of lists"};
  return parse_redis_url(options.url);
}

/// Whether a list can be read like this.
expected<void> check_list(const source_options& options) {
  using kind = start_position::kind;
  if (options.from.size() != 1)
    return error{errc::invalid_argument, "a source reads one list of Redis"};
  if (!options.group.empty())
    return error{errc::not_supported, "a list of Redis has no groups: all its readers share it"};
  if (options.start.at != kind::beginning && options.start.at != kind::stored)
    return error{errc::not_supported, "a list of Redis is read from its oldest element"};
  return {};
}

/// The first id of a record that is not older.
entry_id first_at(timestamp time) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(time).time_since_epoch().count();
  return {ms > 0 ? static_cast<std::uint64_t>(ms) : 0, 0};
}

/// The reader begins behind it; nothing: at the end.
expected<std::optional<entry_id>> place_before(const start_position& start) {
  using kind = start_position::kind;
  switch (start.at) {
  case kind::stored:
  case kind::beginning:
    return std::optional{entry_id{}};
  case kind::end:
    return std::optional<entry_id>{};
  case kind::time:
    return std::optional{first_at(start.time).before()};
  case kind::offset:
    if (const auto id = parse_entry_id(start.offset))
      return std::optional{id->before()};
    break;
  }
  return error{errc::invalid_argument,
               "an id of Redis is 1764291600000 or 1764291600000-5, and not " +
                   printable(start.offset)};
}

} // namespace

expected<std::unique_ptr<engine_writer>> make_writer(const redis& to) {
  auto url = check(to);
  if (!url)
    return url.error();
  return std::unique_ptr<engine_writer>{std::make_unique<redis_writer>(*std::move(url), to)};
}

expected<std::unique_ptr<engine_reader>> make_reader(const redis& from,
                                                     const source_options& options) {
  auto url = check(from);
  if (!url)
    return url.error();
  if (options.from.empty())
    return error{errc::invalid_argument,
                 "a source needs the name of a stream, or of a list, of Redis"};
  if (from.list != redis_list::none) {
    if (auto ok = check_list(options); !ok)
      return ok.error();
    return std::unique_ptr<engine_reader>{
        std::make_unique<redis_list_reader>(*std::move(url), options.from.front(), from.list)};
  }
  auto place = place_before(options.start);
  if (!place)
    return place.error();
  redis_reader_options chosen;
  for (const auto& each : options.from)
    if (std::ranges::find(chosen.streams, each) == chosen.streams.end())
      chosen.streams.push_back(each);
  chosen.group = options.group;
  chosen.field = from.field;
  chosen.behind = *place;
  chosen.begin_anew = options.start.at != start_position::kind::stored;
  return std::unique_ptr<engine_reader>{
      std::make_unique<redis_reader>(*std::move(url), std::move(chosen))};
}

} // namespace pubsub::bridge
