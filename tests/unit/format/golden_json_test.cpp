// SPDX-License-Identifier: BSD-3-Clause
#include "support/golden.hpp"

#include <pubsub/binary.hpp>
#include <pubsub/format.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace pubsub;
using pubsub::test::buffer;
using pubsub::test::golden_value;

namespace {

std::vector<golden_value> all_values() {
  auto values = test::load_golden("data_bin_v1.json");
  auto messages = test::load_golden("zeek_messages.json");
  values.insert(values.end(), messages.begin(), messages.end());
  return values;
}

// Broker encodes the smallest subnormal as garbage; we encode it as zero. Its
// text and JSON are those of the value, not of what the bytes decode to.
bool is_garbled_subnormal(const golden_value& x) {
  return x.bytes == test::from_hex("04 fcd0000000000000");
}

// Broker reads the largest timespan back through a double and overflows; we read it exactly.
bool is_largest_timespan(const golden_value& x) {
  return x.bytes == test::from_hex("0a 7fffffffffffffff");
}

bool has_subnormal(const data& x) {
  if (const auto* number = x.get_if<real>())
    return std::fpclassify(*number) == FP_SUBNORMAL;
  const auto any = [](const auto& members) {
    return std::any_of(members.begin(), members.end(), has_subnormal);
  };
  if (const auto* members = x.get_if<vector>())
    return any(*members);
  if (const auto* members = x.get_if<set>())
    return any(*members);
  if (const auto* pairs = x.get_if<table>())
    return std::any_of(pairs->begin(), pairs->end(), [](const auto& pair) {
      return has_subnormal(pair.first) || has_subnormal(pair.second);
    });
  return false;
}

} // namespace

TEST_CASE("every value of a real Broker decodes and encodes to the same bytes") {
  const auto values = all_values();
  CHECK(values.size() == 165);
  for (const auto& x : values) {
    const auto value = decode_binary(x.bytes);
    REQUIRE_MESSAGE(value, x.name);
    CHECK_MESSAGE(*encode_binary(*value) == x.bytes, x.name);
    CHECK_MESSAGE(data_view::make(x.bytes)->to_data() == *value, x.name);
  }
}

TEST_CASE("every value of a real Broker renders to the same text and JSON") {
  for (const auto& x : all_values()) {
    if (is_garbled_subnormal(x))
      continue;
    const auto value = decode_binary(x.bytes);
    REQUIRE_MESSAGE(value, x.name);
    CHECK_MESSAGE(to_string(*value) == x.text, x.name);
    CHECK_MESSAGE(to_json(*value) == x.json, x.name);
    const auto view = *data_view::make(x.bytes);
    CHECK_MESSAGE(to_json(view) == x.json, x.name);
    if (!x.json_message.empty())
      CHECK_MESSAGE(to_json(x.topic, view) == x.json_message, x.name);
  }
}

TEST_CASE("a subnormal real is written as zero where Broker writes garbage") {
  CHECK(*encode_binary(std::numeric_limits<double>::denorm_min()) ==
        test::from_hex("04 0000000000000000"));
  CHECK(to_string(data{std::numeric_limits<double>::denorm_min()}) == "0.000000");
}

TEST_CASE("JSON of a real Broker reads back to the value, or to what Broker itself reads") {
  for (const auto& x : all_values()) {
    if (is_garbled_subnormal(x))
      continue;
    const auto value = from_json(x.json);
    REQUIRE_MESSAGE(value, x.name, ": ", (value ? std::string{} : value.error().message()));
    // What Broker cannot read of its own output (marked `error`) we read exactly.
    const bool lossy = x.json_roundtrip == "lossy" && !is_largest_timespan(x);
    CHECK_MESSAGE(*encode_binary(*value) == (lossy ? x.json_roundtrip_bytes : x.bytes), x.name);
    if (x.json_message.empty())
      continue;
    const auto message = message_from_json(x.json_message);
    REQUIRE_MESSAGE(message, x.name);
    CHECK(message->topic == x.topic);
    CHECK(message->value == *value);
  }
}

TEST_CASE("every truncation of every value is an error") {
  for (const auto& x : all_values())
    for (std::size_t size = 0; size < x.bytes.size(); ++size) {
      const auto view = data_view::make(std::span{x.bytes}.first(size));
      REQUIRE_MESSAGE(!view, x.name, " cut to ", size);
      REQUIRE(view.error() == errc::end_of_file);
    }
}

TEST_CASE("a byte changed anywhere gives an error or a value that encodes consistently") {
  constexpr std::size_t edge = 48; // of long strings and vectors only the ends are worth the time
  std::size_t accepted = 0;
  std::size_t refused = 0;
  for (const auto& x : all_values()) {
    auto bytes = x.bytes;
    const bool small = bytes.size() <= 700;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      if (!small && at >= edge && at < bytes.size() - 4)
        continue;
      const auto before = bytes[at];
      for (int change = 1; change < 256; change += small ? 1 : 7) {
        bytes[at] = before ^ static_cast<std::byte>(change);
        const auto value = decode_binary(bytes);
        refused += value ? 0 : 1;
        if (!value || has_subnormal(*value))
          continue;
        ++accepted;
        const auto again = *encode_binary(*value);
        const auto second = decode_binary(again);
        REQUIRE_MESSAGE(second, x.name);
        REQUIRE_MESSAGE(*second == *value, x.name);
      }
      bytes[at] = before;
    }
  }
  CHECK(accepted > 100'000);
  CHECK(refused > 10'000);
}
