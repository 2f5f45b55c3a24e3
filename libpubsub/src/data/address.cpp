// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/value/address.hpp>

#include "data/scalar_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include <arpa/inet.h>

namespace pubsub {

namespace {

constexpr std::array<std::uint8_t, 12> v4_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::size_t groups = 8;

struct zero_run {
  std::size_t first = groups;
  std::size_t size = 0;
};

// The longest run of at least two zero groups, the first one on ties (RFC 5952, section 4.2).
zero_run longest_zero_run(const std::array<std::uint16_t, groups>& group) noexcept {
  zero_run best;
  for (std::size_t i = 0; i < groups;) {
    std::size_t j = i;
    while (j < groups && group[j] == 0)
      ++j;
    if (j - i >= 2 && j - i > best.size)
      best = {i, j - i};
    i = std::max(j, i + 1);
  }
  return best;
}

char* write_v4(char* out, const std::uint8_t* bytes) noexcept {
  for (int i = 0; i < 4; ++i) {
    if (i > 0)
      *out++ = '.';
    out = std::to_chars(out, out + 3, bytes[i]).ptr;
  }
  return out;
}

char* write_v6(char* out, const address::bytes_type& bytes) noexcept {
  std::array<std::uint16_t, groups> group{};
  for (std::size_t i = 0; i < groups; ++i)
    group[i] = static_cast<std::uint16_t>(bytes[2 * i] << 8 | bytes[2 * i + 1]);
  const auto run = longest_zero_run(group);
  for (std::size_t i = 0; i < groups;) {
    if (i == run.first) {
      *out++ = ':';
      *out++ = ':';
      i += run.size;
      continue;
    }
    if (i > 0 && i != run.first + run.size)
      *out++ = ':';
    out = std::to_chars(out, out + 4, group[i], 16).ptr;
    ++i;
  }
  return out;
}

} // namespace

address address::v4(std::uint32_t value) noexcept {
  address x;
  std::memcpy(x.bytes_.data(), v4_prefix.data(), v4_prefix.size());
  for (std::size_t i = 0; i < 4; ++i)
    x.bytes_[v4_prefix.size() + i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
  return x;
}

expected<address> address::parse(std::string_view text) {
  // inet_pton needs a terminator and would stop at an embedded one.
  char buffer[INET6_ADDRSTRLEN];
  if (text.size() >= sizeof(buffer) || text.find('\0') != text.npos)
    return error{errc::conversion_failed, "not an IP address"};
  std::memcpy(buffer, text.data(), text.size());
  buffer[text.size()] = '\0';
  address x;
  if (text.find(':') != text.npos) {
    if (inet_pton(AF_INET6, buffer, x.bytes_.data()) == 1)
      return x;
  } else if (inet_pton(AF_INET, buffer, x.bytes_.data() + v4_prefix.size()) == 1) {
    std::memcpy(x.bytes_.data(), v4_prefix.data(), v4_prefix.size());
    return x;
  }
  return error{errc::conversion_failed, "not an IP address: " + std::string{text}};
}

bool address::is_v4() const noexcept {
  return std::memcmp(bytes_.data(), v4_prefix.data(), v4_prefix.size()) == 0;
}

void address::mask(unsigned length) noexcept {
  for (std::size_t i = 0; i < size_bytes; ++i) {
    const auto first_bit = static_cast<unsigned>(8 * i);
    if (length <= first_bit)
      bytes_[i] = 0;
    else if (length < first_bit + 8)
      bytes_[i] &= static_cast<std::uint8_t>(0xff << (first_bit + 8 - length));
  }
}

char* write_text(char* out, const address& x) noexcept {
  return x.is_v4() ? write_v4(out, x.bytes().data() + v4_prefix.size()) : write_v6(out, x.bytes());
}

std::string to_string(const address& x) {
  char buffer[max_scalar_text_bytes];
  return {buffer, write_text(buffer, x)};
}

} // namespace pubsub
