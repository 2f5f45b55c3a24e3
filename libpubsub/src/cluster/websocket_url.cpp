// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/websocket_url.hpp"

#include "cluster/uri_parts.hpp"
#include "cluster/websocket_messages.hpp"

#include <optional>
#include <utility>

namespace pubsub::cluster {

namespace {

constexpr std::uint16_t default_port = 27759;

/// What stands in an address, before there are defaults.
struct parts {
  bool encrypted = false;
  std::string_view host;
  std::optional<std::uint16_t> port;
  std::string_view path;
};

error malformed(std::string why) {
  return {errc::invalid_argument, std::move(why)};
}

bool is_v6_address(std::string_view text) {
  return text.find(':') != text.npos &&
         text.find_first_not_of("0123456789abcdefABCDEF:.") == text.npos;
}

/// Takes the host off the front; what is left is empty or begins with the colon of the port.
expected<std::string_view> take_host(std::string_view& place) {
  if (!place.starts_with('[')) {
    const auto host = place.substr(0, place.find(':'));
    place.remove_prefix(host.size());
    if (!is_word(host) || host.find_first_of("[]?#@") != host.npos ||
        place.find(':', 1) != place.npos)
      return malformed("not a host name; an IPv6 address needs brackets");
    return host;
  }
  const auto end = place.find(']');
  const auto host = place.substr(1, end - 1);
  if (end == place.npos || !is_v6_address(host))
    return malformed("not an IPv6 address in brackets");
  place.remove_prefix(end + 1);
  return host;
}

expected<parts> split(std::string_view text) {
  parts result;
  result.encrypted = text.starts_with("wss://");
  if (!result.encrypted && !text.starts_with("ws://"))
    return malformed("no WebSocket address");
  text.remove_prefix(text.find("//") + 2);
  auto place = text.substr(0, text.find('/'));
  result.path = text.substr(place.size());
  if (!is_word(result.path) || result.path.find_first_of("?#") != result.path.npos)
    return malformed("the path has characters that it may not have");
  const auto host = take_host(place);
  if (!host)
    return host.error();
  result.host = *host;
  if (place.empty())
    return result;
  result.port = read_port(place.substr(1));
  if (!place.starts_with(':') || !result.port)
    return malformed("the port is not a number from 0 to 65535");
  return result;
}

} // namespace

std::string websocket_url::host_and_port() const {
  const auto shown = host.empty() ? "*" : host.find(':') == host.npos ? host : "[" + host + "]";
  return shown + ":" + std::to_string(port);
}

expected<websocket_url> read_client_url(std::string_view text) {
  const auto found = split(text);
  if (!found)
    return found.error();
  if (found->host.empty())
    return malformed("no host");
  if (found->port == 0)
    return malformed("port 0 cannot be connected to");
  return websocket_url{.encrypted = found->encrypted,
                       .host = std::string{found->host},
                       .port = found->port.value_or(default_port),
                       .path = std::string{found->path.size() <= 1 ? websocket_path : found->path}};
}

expected<websocket_url> read_server_url(std::string_view text) {
  const auto found = split(text);
  if (!found)
    return found.error();
  if (!found->port)
    return malformed("no port");
  if (found->path.size() > 1 && found->path != websocket_path)
    return malformed("the path is " + std::string{websocket_path});
  return websocket_url{.encrypted = found->encrypted,
                       .host = std::string{found->host == "*" ? "" : found->host},
                       .port = *found->port,
                       .path = std::string{websocket_path}};
}

std::string to_string(const websocket_url& x) {
  return (x.encrypted ? "wss://" : "ws://") + x.host_and_port() + x.path;
}

} // namespace pubsub::cluster
