// One direction of a connection through the shim: reads, holds back as its link demands, writes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility> // Boost 1.74's awaitable.hpp forgets it

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

namespace faults {

namespace asio = boost::asio;
using asio::ip::tcp;

/// What a link does to the bytes of one direction. Zero means: nothing.
struct shaping {
  std::chrono::milliseconds delay{0};
  std::chrono::milliseconds jitter{0}; ///< up to so much more delay; order is kept
  std::uint64_t bytes_per_second = 0;
  std::size_t chunk_bytes = 0; ///< longest read and longest write
};

/// One direction of a link: shared by the pumps of all its connections. `stalled` holds bytes back
/// as a network does that loses every packet: TCP delivers them once it heals. `vanishing` takes
/// them and throws them away.
struct direction {
  shaping shape;
  bool stalled = false;
  bool vanishing = false;
  std::uint64_t carried_bytes = 0;
  std::uint64_t vanished_bytes = 0;
  std::mt19937_64 dice;
};

/// Carries bytes from one socket to the other, at most `room_bytes` under way. Two coroutines, run
/// on one thread; the sockets and the direction must outlive both.
class pump {
public:
  static constexpr std::size_t room_bytes = 256 * 1024;

  pump(tcp::socket& from, tcp::socket& to, direction& rules);

  /// Reads until the end of the stream or an error, which the writer passes on.
  asio::awaitable<void> read();
  /// Writes all that was read, then shuts the other side down. Returns false where the connection
  /// is broken instead: the source was reset, or the target is gone.
  asio::awaitable<bool> write();
  /// Lets both look again at the rules: something has changed.
  void wake();
  void stop();
  bool stopped() const noexcept { return stopped_; }

private:
  using clock = std::chrono::steady_clock;
  struct piece {
    clock::time_point due;
    std::vector<char> bytes; // empty: the end of the stream
  };

  clock::time_point due_now();
  asio::awaitable<void> changed(asio::steady_timer& timer, clock::time_point until);
  asio::awaitable<bool> write_bytes(const std::vector<char>& bytes);
  asio::awaitable<void> pause(clock::duration time);

  tcp::socket& from_;
  tcp::socket& to_;
  direction& rules_;
  asio::steady_timer reader_;
  asio::steady_timer writer_;
  std::deque<piece> pieces_;
  std::size_t held_bytes_ = 0;
  clock::time_point last_due_{};
  bool broken_ = false; // the source was reset
  bool stopped_ = false;
};

} // namespace faults
