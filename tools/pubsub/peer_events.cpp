#include "peer_events.hpp"

#include "json_object.hpp"
#include "terminal.hpp"

#include <cstdio>

#include <fmt/format.h>

namespace pubsub::tool {

namespace {

void show(event_style style, const std::string& text, const json_object& object) {
  if (style == event_style::text) {
    fmt::print(stderr, "{} {}\n", time_of_day(), text);
  } else {
    fmt::print("{}\n", object.text());
    std::fflush(stdout);
  }
}

json_object object_for(std::string_view event) {
  json_object object;
  object.add("time", time_of_day()).add("event", event);
  return object;
}

std::string where(const status& event) {
  if (!event.network())
    return "unknown address";
  return to_string(*event.network());
}

} // namespace

void show_listening(event_style style, std::string_view address) {
  show(style, fmt::format("listening on {}", address),
       object_for("listening").add("address", address));
}

void show_access(event_style style, std::string_view file, std::size_t rules) {
  show(style, fmt::format("access rules of {} hold: {}", file, rules),
       object_for("access_rules").add("file", file).add("rules", std::to_string(rules)));
}

void show_status(event_style style, const status& event) {
  bool goes_along = event.code() == status_code::endpoint_discovered ||
                    event.code() == status_code::endpoint_unreachable;
  if (style == event_style::text && goes_along)
    return; // right beside peer_added, peer_lost or peer_removed: nothing new for people
  auto name = event.is_error() ? to_string(event.failure()) : to_string(event.code());
  auto text = fmt::format("{} {}: {}", name, where(event), event.message());
  show(style, text,
       object_for(name)
           .add("peer", to_string(event.peer()))
           .add("address", where(event))
           .add("message", event.message()));
}

void show_totals(event_style style, const endpoint_counters& totals) {
  auto text =
      fmt::format("received {} messages, forwarded {}, ttl expired {}, malformed frames {}",
                  totals.received, totals.forwarded, totals.ttl_expired, totals.malformed_frames);
  show(style, text,
       object_for("closed")
           .add("received", totals.received)
           .add("forwarded", totals.forwarded)
           .add("ttl_expired", totals.ttl_expired)
           .add("malformed_frames", totals.malformed_frames));
}

} // namespace pubsub::tool
