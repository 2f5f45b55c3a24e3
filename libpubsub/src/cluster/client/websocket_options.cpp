// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/cluster/websocket_options.hpp>

#include "cluster/uri_parts.hpp"
#include "cluster/websocket_messages.hpp"
#include "cluster/websocket_url.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <utility>

namespace pubsub::cluster {

namespace {

constexpr const char* token_variable = "PUBSUB_WEBSOCKET_TOKEN";
constexpr std::string_view websocket_form =
    "expected ws://HOST:27759/v1/messages/json?topics=A,B&send=A,B&names=as-they-are&"
    "application=NAME&token=FILE, or wss://... with ca=FILE&certificate=FILE&key=FILE";

error unclear(std::string_view uri, std::string_view why) {
  return {errc::invalid_argument,
          std::string{uri} + ": " + std::string{why} + "; " + std::string{websocket_form}};
}

/// Nothing where a `%` is not followed by two hexadecimal digits.
std::optional<std::string> percent_decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    const auto digits = text.substr(i + 1, 2);
    unsigned char byte = 0;
    const auto* const end = digits.data() + digits.size();
    const auto [stopped, failed] = std::from_chars(digits.data(), end, byte, 16);
    if (digits.size() != 2 || failed != std::errc{} || stopped != end)
      return {};
    result += static_cast<char>(byte);
    i += 2;
  }
  return result;
}

std::optional<std::vector<std::string>> list_from(std::string_view text) {
  std::vector<std::string> result;
  while (!text.empty()) {
    auto each = percent_decoded(take_until(',', text));
    if (!each)
      return {};
    result.push_back(std::move(*each));
  }
  return result;
}

/// Not itself on the command line, which all users of a host can see.
expected<std::string> token_from(const std::string& where) {
  std::string token;
  if (where == "environment") {
    const auto* const value = std::getenv(token_variable);
    token = value == nullptr ? "" : value;
  } else {
    std::ifstream file{where};
    if (!file)
      return error{errc::cannot_open_file, where + " cannot be read"};
    file >> token;
  }
  if (token.empty() || !is_word(token))
    return error{
        errc::invalid_argument,
        (where == "environment" ? std::string{token_variable} + " in the environment" : where) +
            " holds no token: printable characters without blanks"};
  return token;
}

/// One `name=value` of an address, where the value is text.
expected<void> apply_text(std::string_view name, std::string value, std::string_view uri,
                          websocket_options& out) {
  if (name == "names" && (value == "mapped" || value == "as-they-are")) {
    out.names = value == "mapped" ? topic_names::mapped : topic_names::as_they_are;
  } else if (name == "application") {
    out.application = std::move(value);
  } else if (name == "token" && !value.empty()) {
    auto token = token_from(value);
    if (!token)
      return token.error();
    out.token = std::move(*token);
  } else if (name == "ca") {
    out.tls.ca_file = std::move(value);
  } else if (name == "certificate") {
    out.tls.certificate = std::move(value);
  } else if (name == "key") {
    out.tls.key = std::move(value);
  } else {
    return unclear(uri, "\"" + std::string{name} + "=" + value + "\" means nothing");
  }
  return {};
}

expected<void> apply_option(std::string_view name, std::string_view value, std::string_view uri,
                            websocket_options& out) {
  const auto no_escape = [&] {
    return unclear(uri, "a % must be followed by two hexadecimal digits");
  };
  if (name == "topics" || name == "send") {
    auto list = list_from(value);
    if (!list)
      return no_escape();
    if (name == "topics")
      out.topics = std::move(*list);
    else
      out.send = std::move(*list);
    return {};
  }
  auto text = percent_decoded(value);
  if (!text)
    return no_escape();
  return apply_text(name, std::move(*text), uri, out);
}

expected<void> check_queues(const websocket_options& options) {
  for (const auto& [name, queue] :
       {std::pair{"outgoing", &options.outgoing}, std::pair{"incoming", &options.incoming}})
    if (auto checked = check(*queue); !checked)
      return error{errc::invalid_argument, std::string{name} + ": " + checked.error().context()};
  if (options.incoming.policy == overflow_policy::block ||
      options.incoming.policy == overflow_policy::disconnect)
    return error{errc::invalid_argument,
                 "incoming.policy must drop: a server keeps what a client does not read"};
  return {};
}

} // namespace

expected<void> check(const websocket_options& options) {
  const auto bad_field = [](const std::string& why) { return error{errc::invalid_argument, why}; };
  const auto url = read_client_url(options.url);
  if (!url)
    return bad_field("url: " + options.url + ": " + url.error().context() +
                     " (expected ws://HOST:PORT/PATH or wss://HOST:PORT/PATH)");
  if (auto queues = check_queues(options); !queues)
    return queues;
  if (!is_application_name(options.application))
    return bad_field("application may have letters, digits and /_.=:*@- only");
  if (!is_word(options.token))
    return bad_field("token may have printable characters only, and no blanks");
  if (options.timeout <= std::chrono::nanoseconds::zero())
    return bad_field("timeout must be positive");
  if (options.liveness_timeout < std::chrono::nanoseconds::zero())
    return bad_field("liveness_timeout must not be negative");
  if (!options.tls.authenticated())
    return {};
  if (!url->encrypted)
    return bad_field("tls: " + options.url + " does not encrypt; wss:// does");
  return check(options.tls);
}

expected<websocket_options> websocket_options_from(std::string_view uri) {
  auto rest = uri;
  websocket_options result;
  result.url = take_until('?', rest);
  if (const auto url = read_client_url(result.url); !url)
    return unclear(uri, url.error().context());
  while (!rest.empty()) {
    auto value = take_until('&', rest);
    const auto name = take_until('=', value);
    if (auto applied = apply_option(name, value, uri, result); !applied)
      return applied.error();
  }
  return result;
}

} // namespace pubsub::cluster
