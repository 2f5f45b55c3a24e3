// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/redis/redis_entry.hpp"

#include <charconv>
#include <limits>
#include <vector>

#include "bridge/engine/json_text.hpp"
#include "bridge/redis/redis_link.hpp"

namespace pubsub::bridge {

entry_id entry_id::before() const {
  if (number > 0)
    return {time_ms, number - 1};
  if (time_ms > 0)
    return {time_ms - 1, std::numeric_limits<std::uint64_t>::max()};
  return {};
}

std::optional<entry_id> parse_entry_id(std::string_view text) {
  entry_id result;
  const auto* const end = text.data() + text.size();
  auto [at, failure] = std::from_chars(text.data(), end, result.time_ms);
  if (failure == std::errc{} && at != end && *at == '-') {
    const auto second = std::from_chars(at + 1, end, result.number);
    at = second.ptr;
    failure = second.ec;
  }
  if (failure != std::errc{} || at != end)
    return {};
  return result;
}

bool read_entry(const redisReply& fields, std::string_view field, fetched_record& out) {
  if (!is_array(&fields, 2) || fields.elements % 2 != 0)
    return false;
  std::vector<std::pair<std::string_view, std::string_view>> others;
  bool found = false;
  for (std::size_t i = 0; i < fields.elements; i += 2) {
    if (fields.element[i]->type != REDIS_REPLY_STRING ||
        fields.element[i + 1]->type != REDIS_REPLY_STRING)
      return false;
    const auto name = text_of(*fields.element[i]);
    const auto value = text_of(*fields.element[i + 1]);
    if (name == field) {
      out.payload = value;
      found = true;
    } else if (name.starts_with("pubsub-")) {
      read_header(out.from, name, value);
    } else {
      others.emplace_back(name, value);
    }
  }
  if (found) {
    for (const auto& [name, value] : others)
      if (name == "key")
        out.key = value;
  } else if (others.size() == 1) {
    out.payload = others.front().second;
  } else {
    char before = '{';
    for (const auto& [name, value] : others) {
      out.payload += before;
      append_json_string(out.payload, name);
      out.payload += ':';
      append_json_string(out.payload, value);
      before = ',';
    }
    out.payload += others.empty() ? "{}" : "}";
  }
  return true;
}

} // namespace pubsub::bridge
