// Two ends of a bare TCP connection that measure what lies between them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "studies/emulator/processors.hpp"
#include "support/tcp.hpp"

namespace emulator {

/// Waits at a port of this host, takes one connection and serves it, in a thread of its own: reads
/// as many bytes as it is told to, sends as many as it is told to, and says how long the reading
/// took. Off the processor of links. Throws std::system_error.
class bare_server {
public:
  bare_server();
  /// Returns when the client is gone, or at once if there never was one.
  ~bare_server();

  int port() const noexcept { return listener_.port(); }

private:
  void serve();

  bench::tcp_listener listener_;
  std::thread thread_;
};

/// Connects to a bare_server, or to something that passes connections on to one. Blocking sockets;
/// throws std::system_error if the connection breaks. For one thread, which stays off the processor
/// of links until this is gone.
class bare_client {
public:
  explicit bare_client(int port);

  /// Of a message of 16 bytes and its answer.
  std::chrono::nanoseconds round_trip();
  /// The median of so many, after some that do not count.
  std::chrono::nanoseconds median_round_trip(unsigned count);
  /// Bits a second as the receiver sees them, from the first bytes that it reads to the last.
  double up_bits_per_s(std::uint64_t bytes);
  double down_bits_per_s(std::uint64_t bytes);

private:
  off_last_processor off_links_;
  bench::tcp_socket socket_;
  std::vector<std::byte> buffer_;
};

} // namespace emulator
