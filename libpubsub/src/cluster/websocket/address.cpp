// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/websocket/address.hpp"

#include "cluster/websocket_messages.hpp"

#include <charconv>

namespace pubsub::cluster {

namespace {

error bad_address(std::string_view text, std::string_view why) {
  return {errc::invalid_argument, "'" + std::string{text} + "': " + std::string{why} +
                                      " (expected ws://HOST:PORT or wss://HOST:PORT)"};
}

bool is_bracketed_v6(std::string_view host) {
  return host.size() > 2 && host.front() == '[' && host.find(':') != host.npos &&
         host.find_first_not_of("0123456789abcdefABCDEF:.", 1) == host.size() - 1 &&
         host.back() == ']';
}

} // namespace

expected<websocket_address> parse_websocket_address(std::string_view text) {
  websocket_address result;
  auto rest = text;
  if (rest.starts_with("ws://")) {
    rest.remove_prefix(5);
  } else if (rest.starts_with("wss://")) {
    rest.remove_prefix(6);
    result.encrypted = true;
  } else {
    return bad_address(text, "no WebSocket address");
  }
  if (const auto slash = rest.find('/'); slash != rest.npos) {
    const auto path = rest.substr(slash);
    if (path != "/" && path != websocket_path)
      return bad_address(text, "the path is " + std::string{websocket_path});
    rest = rest.substr(0, slash);
  }
  const auto colon = rest.rfind(':');
  if (colon == rest.npos)
    return bad_address(text, "no port");
  const auto digits = rest.substr(colon + 1);
  const auto* const end = digits.data() + digits.size();
  const auto [stop, failure] = std::from_chars(digits.data(), end, result.port);
  if (digits.empty() || failure != std::errc{} || stop != end)
    return bad_address(text, "the port is not a number from 0 to 65535");
  auto host = rest.substr(0, colon);
  if (is_bracketed_v6(host))
    host = host.substr(1, host.size() - 2);
  else if (host.find_first_of(":[]?#@") != host.npos)
    return bad_address(text, "not a host name; an IPv6 address needs brackets");
  if (host != "*")
    result.host = host;
  return result;
}

std::string to_string(const websocket_address& x) {
  const auto host = x.host.empty()                    ? "*"
                    : x.host.find(':') == x.host.npos ? x.host
                                                      : "[" + x.host + "]";
  return (x.encrypted ? "wss://" : "ws://") + host + ":" + std::to_string(x.port) +
         std::string{websocket_path};
}

} // namespace pubsub::cluster
