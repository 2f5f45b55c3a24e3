// SPDX-License-Identifier: BSD-3-Clause
#include "format/text.hpp"

#include <algorithm>
#include <charconv>

namespace pubsub {

namespace {

// The length of a subnet as Broker reads it: blanks and a sign before, anything behind.
std::optional<unsigned> lenient_length(std::string_view text) noexcept {
  const auto begin = text.find_first_not_of(" \t\n\v\f\r");
  if (begin == text.npos)
    return std::nullopt;
  text.remove_prefix(begin);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-')
    text.remove_prefix(1);
  int length = 0;
  const auto code = std::from_chars(text.data(), text.data() + text.size(), length).ec;
  if (code != std::errc{} || length < 0 || length > 255)
    return std::nullopt;
  return static_cast<unsigned>(length);
}

} // namespace

std::optional<subnet> parse_lenient_subnet(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == text.npos)
    return std::nullopt;
  const auto network = address::parse(text.substr(0, slash));
  const auto length = lenient_length(text.substr(slash + 1));
  if (!network || !length)
    return std::nullopt;
  return subnet{*network, *length};
}

port parse_lenient_port(std::string_view text) noexcept {
  const auto slash = std::min(text.find('/'), text.size());
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + slash, number);
  auto protocol = transport::unknown;
  if (slash == text.size())
    protocol = transport::tcp;
  else if (const auto name = text.substr(slash + 1); name == "tcp")
    protocol = transport::tcp;
  else if (name == "udp")
    protocol = transport::udp;
  else if (name == "icmp")
    protocol = transport::icmp;
  return {static_cast<std::uint16_t>(number), protocol};
}

} // namespace pubsub
