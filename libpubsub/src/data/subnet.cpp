// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/value/subnet.hpp>

#include "data/scalar_text.hpp"

#include <charconv>

namespace pubsub {

namespace {

constexpr unsigned v4_offset = 96;

} // namespace

subnet::subnet(const address& network, unsigned length) noexcept {
  const unsigned offset = network.is_v4() ? v4_offset : 0;
  if (length > 128 - offset)
    return;
  network_ = network;
  raw_length_ = static_cast<std::uint8_t>(length + offset);
  network_.mask(raw_length_);
}

subnet subnet::from_raw(const address& network, std::uint8_t raw_length) noexcept {
  subnet x;
  x.network_ = network;
  x.raw_length_ = raw_length;
  return x;
}

expected<subnet> subnet::parse(std::string_view text) {
  const auto failed = [text] {
    return error{errc::conversion_failed, "not a subnet: " + std::string{text}};
  };
  const auto slash = text.find('/');
  if (slash == text.npos)
    return failed();
  const auto network = address::parse(text.substr(0, slash));
  if (!network)
    return failed();
  const auto* first = text.data() + slash + 1;
  const auto* last = text.data() + text.size();
  unsigned length = 0;
  const auto [end, code] = std::from_chars(first, last, length);
  if (code != std::errc{} || end != last || length > (network->is_v4() ? 32U : 128U))
    return failed();
  return subnet{*network, length};
}

unsigned subnet::length() const noexcept {
  if (!network_.is_v4())
    return raw_length_;
  // A peer may send a mapped IPv4 network with fewer than 96 bits: no host bits of IPv4 at all.
  return raw_length_ < v4_offset ? 0 : raw_length_ - v4_offset;
}

bool subnet::contains(const address& x) const noexcept {
  auto mine = network_;
  auto other = x;
  mine.mask(raw_length_);
  other.mask(raw_length_);
  return mine == other;
}

char* write_text(char* out, const subnet& x) noexcept {
  out = write_text(out, x.network());
  *out++ = '/';
  return std::to_chars(out, out + 3, x.length()).ptr;
}

std::string to_string(const subnet& x) {
  char buffer[max_scalar_text_bytes];
  return {buffer, write_text(buffer, x)};
}

} // namespace pubsub
