// A connection through the link: two sockets, and what is under way between them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>

#include "studies/emulator/byte_queue.hpp"
#include "studies/emulator/socket.hpp"

namespace emulator {

/// One direction of a connection. Used by the thread of the link only.
struct flow {
  flow(block_pool& pool, socket& source, socket& target) noexcept
      : from(source), to(target), bytes(pool) {}

  enum class took : unsigned char { more, all, end, failed };
  /// Reads up to `at_most` bytes behind those it has; `count` says how many, and the result whether
  /// there may be more.
  took read(std::size_t at_most, std::size_t& count);
  enum class gave : unsigned char { all, some, failed };
  /// Writes what is through the link; `count` says how many bytes.
  gave write(std::size_t& count);
  /// `to` is gone: what is under way has nowhere to go. Returns how many bytes that are.
  std::size_t lose();

  socket& from;
  socket& to;
  byte_queue bytes;
  std::size_t out_bytes = 0; ///< the first of `bytes`: they are through, `to` may have them
  bool open = false;         ///< there may be more to read
  bool held_back = false;    ///< the link has no room for more
  bool blocked = false;      ///< `to` takes nothing now
  bool listed = false;       ///< to be written when all that is through is known
  bool ended = false;        ///< the end of the stream is through
  bool shut = false;         ///< and `to` has been told
  bool lost = false;         ///< `to` is gone
  bool broken = false;       ///< `from` is gone, and the link has been told
};

/// `near` was accepted, `far` is connected to where the link leads.
struct tunnel {
  tunnel(block_pool& pool, std::uint64_t number, socket accepted)
      : id(number), near(std::move(accepted)), up(pool, near, far), down(pool, far, near) {}
  tunnel(tunnel&&) = delete;

  std::uint32_t wanted_near() const noexcept;
  std::uint32_t wanted_far() const noexcept;
  /// Both directions have come to their end.
  bool done() const noexcept { return up.shut && down.shut; }
  /// Both ends get a reset.
  void reset() noexcept {
    near.reset();
    far.reset();
  }

  const std::uint64_t id;
  socket near;
  socket far;
  flow up;
  flow down;
  bool connecting = false;
  std::uint32_t watched_near = 0; ///< what epoll was told
  std::uint32_t watched_far = 0;
  /// One end was reset, and until then the other one may take what came before.
  bool cut = false;
  std::chrono::steady_clock::time_point cut_at_last{};
};

} // namespace emulator
