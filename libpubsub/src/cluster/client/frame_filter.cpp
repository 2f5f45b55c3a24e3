// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/client/frame_filter.hpp"

#include <algorithm>
#include <string_view>

namespace pubsub::cluster {

namespace {

constexpr std::string_view blank_line = "\r\n\r\n"; // ends the answer to the HTTP request

// RFC 6455, 5.2. A server does not mask.
constexpr unsigned char kind_bits = 0x0f;
constexpr unsigned char size_bits = 0x7f;
constexpr unsigned char size_of_2_bytes = 126;
constexpr unsigned char size_of_8_bytes = 127;

} // namespace

void frame_filter::pass(std::span<char> bytes) noexcept {
  while (!bytes.empty()) {
    std::size_t n = 1;
    if (place_ == place::content) {
      n = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
      left_ -= n;
      begin_content();
    } else {
      auto byte = static_cast<unsigned char>(bytes[0]);
      pass_head(byte);
      bytes[0] = static_cast<char>(byte);
    }
    bytes = bytes.subspan(n);
  }
}

void frame_filter::pass_head(unsigned char& byte) noexcept {
  switch (place_) {
  case place::answer:
    if (byte == static_cast<unsigned char>(blank_line[of_blank_line_]))
      ++of_blank_line_;
    else
      of_blank_line_ = byte == '\r' ? 1 : 0;
    if (of_blank_line_ == blank_line.size())
      place_ = place::kind;
    return;
  case place::kind:
    if ((byte & kind_bits) == text)
      byte = static_cast<unsigned char>((byte & ~kind_bits) | binary);
    place_ = place::size;
    return;
  case place::size:
    left_ = byte & size_bits;
    size_bytes_ = left_ == size_of_8_bytes ? 8 : left_ == size_of_2_bytes ? 2 : 0;
    if (size_bytes_ == 0)
      return begin_content();
    left_ = 0;
    place_ = place::more_size;
    return;
  case place::more_size:
    left_ = left_ << 8 | byte;
    if (--size_bytes_ == 0)
      begin_content();
    return;
  case place::content:
    return;
  }
}

} // namespace pubsub::cluster
