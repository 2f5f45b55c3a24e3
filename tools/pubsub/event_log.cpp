// SPDX-License-Identifier: BSD-3-Clause
#include "event_log.hpp"

#include "json_object.hpp"
#include "terminal.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

namespace pubsub::tool {

namespace {

constexpr std::uint64_t most_lines = 20; // of one kind
constexpr std::chrono::seconds per_time{10};

/// systemd says in JOURNAL_STREAM which device and inode its stream is.
bool stderr_is_journal() {
  const char* const said = std::getenv("JOURNAL_STREAM");
  struct stat what {};
  return said != nullptr && ::fstat(2, &what) == 0 &&
         fmt::format("{}:{}", what.st_dev, what.st_ino) == said;
}

/// As syslog numbers them.
int priority(log_level level) {
  return level == log_level::error ? 3 : level == log_level::warning ? 4 : 6;
}

std::string_view name_of(log_level level) {
  return level == log_level::error ? "error" : level == log_level::warning ? "warning" : "info";
}

json_object object_for(log_level level, std::string_view event) {
  json_object object;
  object.add("time", time_of_day()).add("level", name_of(level)).add("event", event);
  return object;
}

std::string address_of(const status& event) {
  return event.network() ? to_string(*event.network()) : "unknown address";
}

/// `sensor-1 (127.0.0.1:9999)`, or the address alone.
std::string describe_peer(const status& event) {
  return event.name().empty() ? address_of(event)
                              : fmt::format("{} ({})", event.name(), address_of(event));
}

/// A peer that has said goodbye is removed, whichever side began.
std::string_view name_of(const status& event) {
  return event.is_error()        ? to_string(event.failure())
         : event.in_good_order() ? to_string(status_code::peer_removed)
                                 : to_string(event.code());
}

log_level level_of(const status& event) {
  const bool lost = event.code() == status_code::peer_lost && !event.in_good_order();
  return event.is_error() || lost ? log_level::warning : log_level::info;
}

struct dropped {
  std::string_view reason;
  std::uint64_t now;
  std::uint64_t before;
};

std::array<dropped, 11> drops_of(const endpoint_counters& now, const endpoint_counters& before) {
  const auto& [link, link_before] = std::pair{now.links, before.links};
  const auto& [sub, sub_before] = std::pair{now.subscribers, before.subscribers};
  return {{
      {"queue to a peer full, oldest", link.dropped_oldest, link_before.dropped_oldest},
      {"queue to a peer full, newest", link.dropped_newest, link_before.dropped_newest},
      {"queue to a peer full, cut off", link.dropped_overflow, link_before.dropped_overflow},
      {"peer gone", link.dropped_gone, link_before.dropped_gone},
      {"no way to a node", now.unreachable, before.unreachable},
      {"hop limit", now.ttl_expired, before.ttl_expired},
      {"subscriber full, oldest", sub.dropped_oldest, sub_before.dropped_oldest},
      {"subscriber full, newest", sub.dropped_newest, sub_before.dropped_newest},
      {"subscriber full, closed", sub.dropped_overflow, sub_before.dropped_overflow},
      {"denied", now.denied, before.denied},
      {"malformed frames", now.malformed_frames, before.malformed_frames},
  }};
}

} // namespace

event_log::event_log(const log_options& options)
    : options_(options), journal_(stderr_is_journal()) {}

void event_log::change(const log_options& options) {
  std::lock_guard lock{mutex_};
  options_ = options;
}

void event_log::listening(std::string_view address) {
  constexpr auto level = log_level::info;
  show(level, "listening", fmt::format("listening on {}", address),
       object_for(level, "listening").add("address", address));
}

void event_log::metrics(std::string_view address) {
  constexpr auto level = log_level::info;
  show(level, "metrics", fmt::format("metrics and status page on {}", address),
       object_for(level, "metrics").add("address", address));
}

void event_log::access_rules(std::string_view file, std::size_t rules) {
  constexpr auto level = log_level::info;
  show(level, "access_rules", fmt::format("access rules of {} hold: {}", file, rules),
       object_for(level, "access_rules").add("file", file).add("rules", std::to_string(rules)));
}

void event_log::status(const pubsub::status& event) {
  const bool goes_along = event.code() == status_code::endpoint_discovered ||
                          event.code() == status_code::endpoint_unreachable;
  {
    std::lock_guard lock{mutex_};
    if (options_.format == event_style::text && goes_along)
      return; // right beside peer_added, peer_lost or peer_removed: nothing new for people
  }
  const auto name = name_of(event);
  const auto level = level_of(event);
  const auto message = event.in_good_order() ? "the remote peer has left" : event.message();
  show(level, name, fmt::format("{} {}: {}", name, describe_peer(event), message),
       object_for(level, name)
           .add("peer", to_string(event.peer()))
           .add("name", event.name())
           .add("address", address_of(event))
           .add("message", message));
}

void event_log::drops(const endpoint_counters& now) {
  std::string text;
  json_object reasons;
  {
    std::lock_guard lock{mutex_};
    for (const auto& each : drops_of(now, before_))
      if (each.now > each.before) {
        text +=
            fmt::format("{}{} ({})", text.empty() ? "" : ", ", each.now - each.before, each.reason);
        reasons.add(each.reason, each.now - each.before);
      }
    before_ = now;
  }
  constexpr auto level = log_level::warning;
  if (!text.empty())
    show(level, "dropped", "dropped messages: " + text,
         object_for(level, "dropped").add("reasons", reasons));
}

void event_log::totals(const endpoint_counters& totals) {
  constexpr auto level = log_level::info;
  show(level, "closed",
       fmt::format("received {} messages, forwarded {}, ttl expired {}, malformed frames {}",
                   totals.received, totals.forwarded, totals.ttl_expired, totals.malformed_frames),
       object_for(level, "closed")
           .add("received", totals.received)
           .add("forwarded", totals.forwarded)
           .add("ttl_expired", totals.ttl_expired)
           .add("malformed_frames", totals.malformed_frames));
}

void event_log::note(log_level level, std::string_view event, std::string_view text) {
  show(level, event, std::string{text}, object_for(level, event).add("message", text));
}

void event_log::tick(clock::time_point now) {
  std::lock_guard lock{mutex_};
  for (auto at = windows_.begin(); at != windows_.end();) {
    const auto& [event, seen] = *at;
    if (now < seen.ends) {
      ++at;
      continue;
    }
    if (seen.hidden > 0)
      write(
          log_level::warning,
          fmt::format("{} more of {} in {} s are not shown", seen.hidden, event, per_time.count()),
          object_for(log_level::warning, "not_shown").add("of", event).add("number", seen.hidden));
    at = windows_.erase(at);
  }
}

void event_log::show(log_level level, std::string_view event, const std::string& text,
                     const json_object& object) {
  std::lock_guard lock{mutex_};
  if (level >= options_.level && may_show(event, clock::now()))
    write(level, text, object);
}

/// Called with the mutex held.
bool event_log::may_show(std::string_view event, clock::time_point now) {
  auto found = windows_.find(event);
  if (found == windows_.end())
    found = windows_.emplace(std::string{event}, window{now + per_time}).first;
  auto& seen = found->second;
  if (seen.shown < most_lines) {
    ++seen.shown;
    return true;
  }
  ++seen.hidden;
  return false;
}

/// Called with the mutex held.
void event_log::write(log_level level, const std::string& text, const json_object& object) {
  if (options_.format == event_style::json) {
    fmt::print("{}\n", object.text());
    std::fflush(stdout);
  } else if (journal_) {
    fmt::print(stderr, "<{}>{}\n", priority(level), text);
  } else {
    fmt::print(stderr, "{} {}\n", time_of_day(), text);
  }
}

} // namespace pubsub::tool
