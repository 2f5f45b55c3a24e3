// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/redis/redis_url.hpp"

#include <charconv>
#include <optional>

#include "base/printable.hpp"

namespace pubsub::bridge {

namespace {

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number result{};
  const auto* const end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, result);
  if (failure != std::errc{} || at != end)
    return {};
  return result;
}

std::optional<std::string> without_percent(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    unsigned value = 0;
    if (i + 2 >= text.size() ||
        std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16).ptr !=
            text.data() + i + 3)
      return {};
    result += static_cast<char>(value);
    i += 2;
  }
  return result;
}

bool read_login(redis_url& out, std::string_view login) {
  const auto colon = login.find(':');
  if (colon == std::string_view::npos)
    return false;
  const auto user = without_percent(login.substr(0, colon));
  const auto password = without_percent(login.substr(colon + 1));
  if (!user || !password || password->empty())
    return false;
  out.user = *user;
  out.password = *password;
  return true;
}

bool read_host(redis_url& out, std::string_view text) {
  if (text.starts_with('[')) { // an IPv6 address
    const auto end = text.find(']');
    if (end == std::string_view::npos)
      return false;
    out.host = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
  } else {
    const auto colon = std::min(text.find(':'), text.size());
    out.host = text.substr(0, colon);
    text.remove_prefix(colon);
  }
  if (out.host.empty())
    return false;
  if (text.empty())
    return true;
  const auto port = whole_number<std::uint16_t>(text.substr(1));
  if (text[0] != ':' || !port || *port == 0)
    return false;
  out.port = *port;
  return true;
}

} // namespace

std::string redis_url::shown() const {
  if (!path.empty())
    return printable("unix://" + path);
  return printable("redis://" + host + ":" + std::to_string(port));
}

expected<redis_url> parse_redis_url(std::string_view text) {
  // The text is not shown: it may have a password.
  const error wrong{errc::invalid_argument,
                    "the URL of a Redis server is redis://[[user]:password@]host[:port][/database] "
                    "or unix:///path"};
  redis_url result;
  if (text.starts_with("unix://")) {
    result.path = text.substr(7);
    // That of a socket's address has room for 108 bytes with the zero at its end.
    if (!result.path.starts_with('/') || result.path.size() > 107)
      return wrong;
    return result;
  }
  if (!text.starts_with("redis://"))
    return wrong;
  text.remove_prefix(8);
  if (const auto at = text.rfind('@'); at != std::string_view::npos) {
    if (!read_login(result, text.substr(0, at)))
      return wrong;
    text.remove_prefix(at + 1);
  }
  if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    const auto database = text.substr(slash + 1);
    const auto number = whole_number<std::uint32_t>(database);
    if (!database.empty() && !number)
      return wrong;
    result.database = number.value_or(0);
    text = text.substr(0, slash);
  }
  if (!read_host(result, text))
    return wrong;
  return result;
}

} // namespace pubsub::bridge
