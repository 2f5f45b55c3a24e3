// The values a running Broker 2.8 wrote, as tests read them from tests/data/golden.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/hex.hpp"

#include <simdjson.h>

namespace pubsub::test {

struct golden_value {
  std::string name; ///< the hex digits, or what a Zeek message is
  std::string text;
  std::string json;
  buffer bytes;
  std::string json_roundtrip; ///< exact, lossy or error: what Broker reads back from `json`
  buffer json_roundtrip_bytes;
  bool decode_check = true; ///< Broker decodes `bytes` to the value it encoded
  std::string topic;        ///< Zeek messages only
  std::string json_message; ///< Zeek messages only
};

namespace golden_impl {

inline std::string string_or_hex(simdjson::dom::object object, std::string_view key) {
  std::string_view text;
  if (object[key].get(text) == simdjson::SUCCESS)
    return std::string{text};
  if (object[std::string{key} + "_hex"].get(text) == simdjson::SUCCESS)
    return text_from_hex(text);
  return {};
}

} // namespace golden_impl

/// All values of a file in tests/data/golden; throws where it cannot be read.
inline std::vector<golden_value> load_golden(const std::string& file) {
  using golden_impl::string_or_hex;
  simdjson::dom::parser parser;
  std::vector<golden_value> out;
  const simdjson::dom::array items = parser.load(std::string{PUBSUB_TEST_DATA "/golden/"} + file);
  for (const auto item : items) {
    const simdjson::dom::object object = item;
    golden_value x;
    const auto hex = string_or_hex(object, "hex");
    x.name = string_or_hex(object, "what");
    if (x.name.empty())
      x.name = hex.substr(0, 60);
    x.text = string_or_hex(object, "text");
    x.json = string_or_hex(object, "json");
    x.bytes = from_hex(hex);
    x.json_roundtrip = string_or_hex(object, "json_roundtrip");
    if (std::string_view bytes; object["json_roundtrip_hex"].get(bytes) == simdjson::SUCCESS)
      x.json_roundtrip_bytes = from_hex(bytes);
    if (bool check = true; object["decode_check"].get(check) == simdjson::SUCCESS)
      x.decode_check = check;
    x.topic = string_or_hex(object, "topic");
    x.json_message = string_or_hex(object, "json_message");
    out.push_back(std::move(x));
  }
  return out;
}

} // namespace pubsub::test
