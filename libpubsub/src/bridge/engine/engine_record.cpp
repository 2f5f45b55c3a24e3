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
    std::uint64_t number = 0;
    const auto* const end = value.data() + value.size();
    if (const auto [at, failure] = std::from_chars(value.data(), end, number);
        failure == std::errc{} && at == end)
      x.sequence = number;
  }
}

} // namespace pubsub::bridge
