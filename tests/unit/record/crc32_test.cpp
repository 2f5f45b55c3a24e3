// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <string_view>

#include "record/crc32.hpp"

using namespace pubsub;

namespace {

std::uint32_t sum(std::string_view text, std::uint32_t before = 0) {
  return record::crc32(std::as_bytes(std::span{text}), before);
}

} // namespace

TEST_CASE("a checksum is that of zlib") {
  CHECK(sum("") == 0);
  CHECK(sum("123456789") == 0xcbf4'3926);
  CHECK(sum("The quick brown fox jumps over the lazy dog") == 0x414f'a339);
}

TEST_CASE("a checksum can be made in parts, wherever they are cut") {
  constexpr std::string_view text = "forty-three bytes, so that two steps and a rest";
  for (std::size_t at = 0; at <= text.size(); ++at)
    CHECK(sum(text.substr(at), sum(text.substr(0, at))) == sum(text));
}
