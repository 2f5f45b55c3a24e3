// Makes frames of text acceptable that hold other bytes than text.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pubsub::cluster {

/// Zeek sends events in text frames, also where their strings are not UTF-8, and such a frame ends
/// the connection of every client that obeys RFC 6455 (8.1), as Boost.Beast does. So frames of text
/// become frames of bytes before it sees them. Sees all that a server sends, from its answer to the
/// HTTP request on.
class frame_filter {
public:
  /// Changes the next bytes in place.
  void pass(std::span<char> bytes) noexcept;

private:
  static constexpr unsigned char text = 1;
  static constexpr unsigned char binary = 2;
  enum class place : std::uint8_t { answer, kind, size, more_size, content };

  void pass_head(unsigned char& byte) noexcept;
  void begin_content() noexcept { place_ = left_ > 0 ? place::content : place::kind; }

  place place_ = place::answer;
  std::size_t of_blank_line_ = 0; ///< how much of the end of the answer was seen
  std::size_t size_bytes_ = 0;    ///< of the size that are still to come
  std::uint64_t left_ = 0;        ///< of the content
};

} // namespace pubsub::cluster
