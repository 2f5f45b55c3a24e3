// TCP sockets that do not block, and the addresses they have.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include <sys/socket.h>

namespace emulator {

/// An open socket, or none.
class socket {
public:
  socket() = default;
  explicit socket(int fd) noexcept : fd_(fd) {}
  socket(socket&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  socket& operator=(socket&& other) noexcept;
  ~socket() { close(); }

  int fd() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  void close() noexcept;
  /// The other end gets a reset, not an end of the stream.
  void reset() noexcept;
  /// Small messages leave at once, and the kernel keeps few bytes for us: what waits, waits where
  /// the link counts it.
  void tune() noexcept;
  /// Whether the other end's system has all bytes written so far.
  bool all_sent() const noexcept;
  /// The error that is pending; 0 if there is none.
  int error() const noexcept;

private:
  int fd_ = -1;
};

/// Where to listen or to connect.
struct socket_address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  /// Of `HOST:PORT`, IPv6 in brackets. Throws std::runtime_error that names what is wrong.
  explicit socket_address(const std::string& text);
  socket_address() = default;
  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }
};

/// Port 0: a free one. Throws std::system_error.
socket listen_on(const socket_address& where);
/// `HOST:PORT`.
std::string local_address(const socket& x);
std::uint16_t local_port(const socket& x);
/// Begins to connect: it is writable when that has come to an end. None if it fails at once.
socket begin_connect(const socket_address& where);

} // namespace emulator
