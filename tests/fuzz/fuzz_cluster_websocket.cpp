// Any text as a message of Zeek's WebSocket API, of a client and of a server: refused, or an event
// that is read again as it was written.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/check.hpp"
#include "fuzz/target.hpp"

#include "cluster/websocket/upgrade.hpp"
#include "cluster/websocket_messages.hpp"
#include "cluster/websocket_url.hpp"
#include "format/utf8.hpp"

#include <pubsub/zeek/event.hpp>

#include <string_view>

namespace pubsub::fuzz {

namespace {

using namespace cluster;

void check_event(const websocket_event& event) {
  const auto view = data_view::make(event.value.bytes(), {.max_depth = 512});
  check(view.has_value(), "what is read is valid");
  check(zeek::kind_of(*view) == zeek::message_kind::event, "it is an event");
  std::string text;
  check(append_event(text, event.topic, *view), "an event is written");
  check(is_utf8(text), "so that a text frame may hold it");
  for (const char c : text)
    check(c >= 0x20 || c < 0, "control characters are escaped");
}

void try_upgrade(std::string_view text) {
  const auto cut = text.find('\n');
  const auto rest = text.substr(cut == text.npos ? text.size() : cut + 1);
  const auto found = read_upgrade({.target = text.substr(0, cut),
                                   .host = rest,
                                   .origin = rest,
                                   .authorization = rest,
                                   .protocols = rest,
                                   .application = rest});
  check(found.token.empty() || found.token.size() == 71, "a token is a digest");
  check(found.application.empty() || is_application_name(found.application),
        "what it calls itself is a name");
}

void try_input(std::string_view text) {
  websocket_event event;
  const auto read = read_event(text, event);
  if (read)
    check_event(event);
  if (const auto message = read_server_message(text)) {
    if (const auto* const again = std::get_if<websocket_event>(&*message))
      check_event(*again);
    if (const auto* const error = std::get_if<websocket_error>(&*message))
      check(std::get<websocket_error>(*read_server_message(error_message(*error))) == *error,
            "an error is read as it was written");
    if (const auto* const ack = std::get_if<websocket_ack>(&*message))
      check(std::get<websocket_ack>(*read_server_message(ack_message(*ack))) == *ack,
            "an ack is read as it was written");
  }
  if (const auto prefixes = read_subscriptions(text))
    check(*read_subscriptions(subscriptions_message(*prefixes)) == *prefixes,
          "subscriptions are read as they were written");
  if (const auto url = read_server_url(text))
    check(read_server_url(to_string(*url)).has_value(), "an address of a server is one");
  if (const auto url = read_client_url(text))
    check(read_client_url(to_string(*url)).has_value(), "an address for a client is one");
  try_upgrade(text);
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input({reinterpret_cast<const char*>(data), size});
  return 0;
}
