// What TLS looks like from outside.
#pragma once

#include <cstddef>
#include <span>

namespace pubsub {

inline constexpr std::size_t tls_record_header_bytes = 5;

/// Whether a stream that begins with these bytes is TLS: a record of one of its four types, of
/// version 3.x (RFC 8446, 5.1). False for fewer than three bytes.
inline bool looks_like_tls(std::span<const std::byte> bytes) noexcept {
  return bytes.size() >= 3 && bytes[0] >= std::byte{20} && bytes[0] <= std::byte{23} &&
         bytes[1] == std::byte{3} && bytes[2] <= std::byte{4};
}

} // namespace pubsub
