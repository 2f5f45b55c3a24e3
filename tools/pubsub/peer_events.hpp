// Showing what happens to peerings, for people or as JSON lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <pubsub/counters.hpp>
#include <pubsub/status.hpp>

namespace pubsub::tool {

enum class event_style : unsigned char {
  text, ///< to stderr
  json, ///< to stdout, one object a line
};

void show_listening(event_style style, std::string_view address);
/// That access rules hold from now on.
void show_access(event_style style, std::string_view file, std::size_t rules);
void show_status(event_style style, const status& event);
void show_totals(event_style style, const endpoint_counters& totals);

} // namespace pubsub::tool
