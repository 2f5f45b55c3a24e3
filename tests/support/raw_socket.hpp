// A plain TCP socket with deadlines: the other side of a link, byte by byte.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/bytes.hpp"
#include "base/unique_fd.hpp"
#include "support/eventually.hpp"
#include "support/hex.hpp"

namespace pubsub::test {

/// Blocking with a deadline; throws where the machine, not the code under test, is at fault.
class raw_socket {
public:
  raw_socket() = default;
  explicit raw_socket(int fd) : fd_(fd) {
    if (fd < 0)
      throw std::runtime_error{std::string{"no socket: "} + std::strerror(errno)};
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  /// Connected to `port` on this machine. A small `receive_buffer` fills soon when nobody reads.
  static raw_socket connect(std::uint16_t port, int receive_buffer_bytes = 0) {
    raw_socket result{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (receive_buffer_bytes > 0)
      ::setsockopt(result.fd(), SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof(int));
    const auto where = loopback(port);
    if (::connect(result.fd(), reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0)
      throw std::runtime_error{std::string{"connect: "} + std::strerror(errno)};
    return result;
  }

  int fd() const { return fd_.get(); }
  void close() { fd_ = {}; }
  /// Nothing more will be sent; what arrives can still be read.
  void shut_down() { ::shutdown(fd(), SHUT_WR); }

  /// False if the other side has gone or takes nothing until the deadline.
  bool send(std::span<const std::byte> bytes, std::chrono::milliseconds limit = patience) {
    while (!bytes.empty()) {
      if (!wait_for(POLLOUT, limit))
        return false;
      const auto n = ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n < 0 && errno != EAGAIN)
        return false;
      bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    }
    return true;
  }
  bool send(std::string_view hex) { return send(from_hex(hex)); }

  /// Exactly `size` bytes, or fewer where the stream ends or the deadline passes.
  buffer read(std::size_t size, std::chrono::milliseconds limit = patience) {
    buffer out;
    while (out.size() < size && wait_for(POLLIN, limit)) {
      std::byte piece[65536];
      const auto n = ::recv(fd(), piece, std::min(sizeof piece, size - out.size()), 0);
      if (n <= 0)
        break;
      out.insert(out.end(), piece, piece + n);
    }
    return out;
  }
  /// One frame with its length prefix; empty where the stream ends or the deadline passes.
  buffer read_frame(std::chrono::milliseconds limit = patience) {
    auto frame = read(4, limit);
    if (frame.size() < 4)
      return {};
    const auto body = read(load_be<std::uint32_t>(frame.data()), limit);
    frame.insert(frame.end(), body.begin(), body.end());
    return frame;
  }
  /// True if the other side ends the stream, after sending nothing more or whatever it likes.
  bool closed_by_peer(std::chrono::milliseconds limit = patience) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (wait_for(POLLIN, std::chrono::duration_cast<std::chrono::milliseconds>(
                                until - std::chrono::steady_clock::now()))) {
      std::byte piece[65536];
      if (::recv(fd(), piece, sizeof piece, 0) <= 0)
        return true;
    }
    return false;
  }

  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    where.sin_port = htons(port);
    return where;
  }

private:
  bool wait_for(short event, std::chrono::milliseconds limit) const {
    pollfd one{fd(), event, 0};
    return ::poll(&one, 1, static_cast<int>(std::max<std::int64_t>(limit.count(), 0))) == 1;
  }

  unique_fd fd_;
};

/// Listens on a port of its own on this machine.
class raw_listener {
public:
  explicit raw_listener(std::uint16_t port = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;
    ::setsockopt(socket_.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    auto where = raw_socket::loopback(port);
    socklen_t size = sizeof where;
    auto* address = reinterpret_cast<sockaddr*>(&where);
    if (::bind(socket_.fd(), address, size) != 0 || ::listen(socket_.fd(), 16) != 0 ||
        ::getsockname(socket_.fd(), address, &size) != 0)
      throw std::runtime_error{std::string{"listen: "} + std::strerror(errno)};
    port_ = ntohs(where.sin_port);
  }

  std::uint16_t port() const { return port_; }
  std::string uri() const { return "tcp://127.0.0.1:" + std::to_string(port_); }
  /// The next connection; nothing if none comes before the deadline.
  std::optional<raw_socket> accept(std::chrono::milliseconds limit = patience) {
    pollfd one{socket_.fd(), POLLIN, 0};
    if (::poll(&one, 1, static_cast<int>(limit.count())) != 1)
      return {};
    return raw_socket{::accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC)};
  }
  void close() { socket_.close(); }

private:
  raw_socket socket_;
  std::uint16_t port_ = 0;
};

/// A port nobody listens on now.
inline std::uint16_t unused_port() {
  return raw_listener{}.port();
}

} // namespace pubsub::test
