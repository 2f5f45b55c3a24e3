// Telling Broker before 2.3 by its first bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace pubsub {

/// Whether a connection begins as one of Broker before 2.3 (Zeek 4 and older) does, once five bytes
/// are there: the number of the first message in CAF's protocol, three bytes of zero, and the
/// length of what follows, which is below 2^24. In Broker's protocol since then that would
/// be a handshake frame of 16 MiB that begins with a tag there is not.
inline bool looks_like_old_broker(std::span<const std::byte> first) noexcept {
  constexpr std::array begins{std::byte{1}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0}};
  return first.size() >= begins.size() && std::equal(begins.begin(), begins.end(), first.begin());
}

} // namespace pubsub
