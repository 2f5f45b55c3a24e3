// SPDX-License-Identifier: BSD-3-Clause
#include "transport/uri.hpp"

#include <charconv>

#include <sys/un.h>

#include <pubsub/status.hpp>

namespace pubsub {

namespace {

error bad_uri(std::string_view text, std::string_view why) {
  return {errc::invalid_argument,
          "'" + std::string{text} + "': " + std::string{why} +
              " (expected tcp://host:port, tls://host:port or unix:///path)"};
}

expected<uri> parse_path(std::string_view text, std::string_view path) {
  if (!path.starts_with('/') || path.ends_with('/'))
    return bad_uri(text, "not the path of a file, from / on");
  if (path.size() >= sizeof(sockaddr_un::sun_path))
    return bad_uri(text, "the path is longer than " +
                             std::to_string(sizeof(sockaddr_un::sun_path) - 1) + " bytes");
  if (path.find('\0') != std::string_view::npos)
    return bad_uri(text, "a path has no zero byte");
  return uri{.host = {}, .port = 0, .path = std::string{path}};
}

} // namespace

expected<uri> parse_uri(std::string_view text) {
  auto rest = text;
  uri result;
  if (const auto end = rest.find("://"); end != std::string_view::npos) {
    const auto scheme = rest.substr(0, end);
    if (scheme == "unix")
      return parse_path(text, rest.substr(end + 3));
    if (scheme != "tcp" && scheme != "tls")
      return error{errc::not_supported,
                   "'" + std::string{text} + "': the transports are tcp://, tls:// and unix://"};
    result.security = scheme == "tls" ? encryption::tls : encryption::none;
    rest.remove_prefix(end + 3);
  }
  const auto colon = rest.rfind(':');
  if (colon == std::string_view::npos)
    return bad_uri(text, "no port");
  auto host = rest.substr(0, colon);
  const auto digits = rest.substr(colon + 1);
  const auto* end = digits.data() + digits.size();
  if (auto [stop, ec] = std::from_chars(digits.data(), end, result.port);
      digits.empty() || ec != std::errc{} || stop != end)
    return bad_uri(text, "the port is not a number from 0 to 65535");
  if (host.starts_with('[')) {
    if (!host.ends_with(']'))
      return bad_uri(text, "bracket without its partner");
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return bad_uri(text, "an IPv6 address needs brackets");
  }
  if (host.find_first_of("/ \t@") != std::string_view::npos)
    return bad_uri(text, "not a host name");
  result.host = host == "*" ? "" : std::string{host};
  return result;
}

std::string to_string(const uri& x) {
  if (!x.shown.empty())
    return x.shown;
  if (!x.path.empty())
    return "unix://" + x.path;
  const bool v6 = x.host.find(':') != std::string::npos;
  return (x.security == encryption::tls ? "tls://" : "") + (v6 ? "[" + x.host + "]" : x.host) +
         ":" + std::to_string(x.port);
}

std::string to_string(const network_info& x) {
  const bool whole = x.address.find("://") != std::string::npos;
  return whole ? x.address : x.address + ":" + std::to_string(x.port);
}

} // namespace pubsub
