// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/websocket/upgrade.hpp"

#include <algorithm>
#include <array>
#include <new>

#include <openssl/evp.h>

namespace pubsub::cluster {

namespace {

constexpr std::string_view bearer_protocol = "bearer.";
constexpr std::string_view token_query = "token=";

bool is_same_text(std::string_view x, std::string_view y) { // but for case
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(x, y, {}, lower, lower);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const auto begin = std::min(text.find_first_not_of(blanks), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

std::string digest_of(std::string_view token) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  if (EVP_Digest(token.data(), token.size(), bytes.data(), &size, EVP_sha256(), nullptr) != 1)
    throw std::bad_alloc{};
  std::string result = "sha256:";
  for (unsigned i = 0; i < size; ++i) {
    result += digits[bytes[i] >> 4];
    result += digits[bytes[i] & 15];
  }
  return result;
}

std::string_view bearer_of(std::string_view authorization) {
  constexpr std::string_view bearer = "bearer ";
  if (!is_same_text(authorization.substr(0, bearer.size()), bearer))
    return {};
  return trimmed(authorization.substr(bearer.size()));
}

/// What it confirms is another than that with the token, if there is one.
void read_protocols(std::string_view offered, upgrade& to, std::string_view& token) {
  while (!offered.empty()) {
    const auto each = trimmed(offered.substr(0, offered.find(',')));
    offered.remove_prefix(std::min(offered.find(','), offered.size() - 1) + 1);
    const bool has_token = each.starts_with(bearer_protocol);
    if (has_token && token.empty())
      token = each.substr(bearer_protocol.size());
    if (to.protocol.empty() || (!has_token && to.protocol.starts_with(bearer_protocol)))
      to.protocol = each;
  }
}

std::string unescaped(std::string_view text) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'                     ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                    : -1;
  };
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape =
        text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    result += escape ? static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2])) : text[i];
    i += escape ? 2 : 0;
  }
  return result;
}

} // namespace

upgrade read_upgrade(const upgrade_request& request) {
  upgrade result;
  auto token = bearer_of(request.authorization);
  read_protocols(request.protocols, result, token);
  auto target = request.target;
  std::string from_query;
  if (const auto at = target.find('?'); at != target.npos)
    if (const auto query = target.substr(at + 1);
        query.starts_with(token_query) && query.find('&') == query.npos) {
      from_query = unescaped(query.substr(token_query.size()));
      target = target.substr(0, at);
      if (token.empty())
        token = from_query;
    }
  if (!token.empty())
    result.token = digest_of(token);
  if (target != websocket_path)
    result.refusal = {std::string{websocket_code::invalid_uri},
                      "Invalid URI - use " + std::string{websocket_path}};
  else if (!request.application.empty() && !is_application_name(request.application))
    result.refusal = {std::string{websocket_code::invalid_application_name},
                      "Invalid " + std::string{application_name_header}};
  else
    result.application = request.application;
  return result;
}

bool is_allowed_origin(const upgrade_request& request, const std::vector<std::string>& allowed) {
  const auto origin = request.origin;
  if (origin.empty())
    return true;
  const auto colon = origin.find("://");
  if (colon != origin.npos && is_same_text(origin.substr(colon + 3), request.host))
    return true;
  return std::ranges::any_of(
      allowed, [&](const auto& each) { return each == "*" || is_same_text(each, origin); });
}

} // namespace pubsub::cluster
