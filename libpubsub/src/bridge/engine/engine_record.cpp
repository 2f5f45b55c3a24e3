// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/engine/engine_record.hpp"

#include <array>
#include <charconv>
#include <utility>

namespace pubsub::bridge {

namespace {

constexpr std::array<std::pair<payload_format, std::string_view>, 6> names_of_formats{{
    {payload_format::zeek_json, "zeek-json"},
    {payload_format::json, "json"},
    {payload_format::binary, "binary"},
    {payload_format::avro, "avro"},
    {payload_format::plain_json, "plain-json"},
    {payload_format::string, "string"},
}};

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t result = 0;
  const auto* const end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, result);
  if (failure != std::errc{} || at != end)
    return {};
  return result;
}

} // namespace

std::string_view to_string(payload_format x) noexcept {
  for (const auto& [format, name] : names_of_formats)
    if (format == x)
      return name;
  return "unknown";
}

std::optional<payload_format> parse_format(std::string_view name) noexcept {
  for (const auto& [format, its_name] : names_of_formats)
    if (its_name == name)
      return format;
  return {};
}

void read_header(provenance& x, std::string_view name, std::string_view value) {
  if (name == "pubsub-topic") {
    x.topic = value;
  } else if (name == "pubsub-origin") {
    x.origin = value;
  } else if (name == "pubsub-network") {
    x.network = value;
  } else if (name == "pubsub-format") {
    x.format = parse_format(value);
  } else if (name == "pubsub-reason") {
    x.reason = value;
  } else if (name == "pubsub-redelivered") {
    x.redelivered = true;
  } else if (name == "pubsub-sequence") {
    if (const auto number = number_in(value))
      x.sequence = *number;
  } else if (name == "pubsub-part") {
    x.part = number_in(value).value_or(0);
  }
}

} // namespace pubsub::bridge
