// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/value/endpoint_id.hpp>

#include <cstring>
#include <system_error>

#include "base/entropy.hpp"

namespace pubsub {

namespace {

constexpr bool dash_before(std::size_t byte) {
  return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

int hex_value(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

/// Odd, so that no part of an id is lost. A system that gives no random numbers gives no ids
/// either.
std::uint64_t random_key() noexcept {
  try {
    return std::uint64_t{random_number()} << 32U | random_number() | 1U;
  } catch (const std::system_error&) {
    return 0x9e37'79b9'7f4a'7c15;
  }
}

} // namespace

const id_hash_keys& keys_of_id_hash() noexcept {
  static const id_hash_keys keys{random_key(), random_key()};
  return keys;
}

endpoint_id endpoint_id::random() {
  bytes_type bytes;
  for (std::size_t i = 0; i < bytes.size(); i += 4) {
    const std::uint32_t word = random_number();
    std::memcpy(bytes.data() + i, &word, sizeof word);
  }
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0f) | 0x40); // RFC 4122: version 4
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3f) | 0x80); // and its variant
  return endpoint_id{bytes};
}

expected<endpoint_id> endpoint_id::parse(std::string_view text) {
  const error failure{errc::conversion_failed, "not an endpoint id: " + std::string{text}};
  bytes_type bytes;
  std::size_t pos = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (dash_before(i) && (pos >= text.size() || text[pos++] != '-'))
      return failure;
    if (text.size() - pos < 2)
      return failure;
    const int high = hex_value(text[pos++]);
    const int low = hex_value(text[pos++]);
    if (high < 0 || low < 0)
      return failure;
    bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  if (pos != text.size())
    return failure;
  return endpoint_id{bytes};
}

std::string to_string(const endpoint_id& id) {
  constexpr char digits[] = "0123456789abcdef";
  std::string result;
  result.reserve(36);
  for (std::size_t i = 0; i < id.bytes().size(); ++i) {
    if (dash_before(i))
      result += '-';
    result += digits[id.bytes()[i] >> 4];
    result += digits[id.bytes()[i] & 0xf];
  }
  return result;
}

} // namespace pubsub
