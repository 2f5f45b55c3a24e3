// Bare TCP over loopback: what the limits are made of.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace bench {

/// An open socket. Every failure throws std::system_error.
class tcp_socket {
public:
  explicit tcp_socket(int fd) noexcept : fd_(fd) {}
  tcp_socket(tcp_socket&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  tcp_socket& operator=(tcp_socket&&) = delete;
  ~tcp_socket();

  static tcp_socket connect(int port);

  int fd() const noexcept { return fd_; }
  /// Returns when something has come; 0 at the end of the stream.
  std::size_t read_some(void* to, std::size_t at_most);
  void write_all(const void* from, std::size_t n);

private:
  int fd_;
};

/// Waits at a free port of 127.0.0.1.
class tcp_listener {
public:
  tcp_listener();
  int port() const noexcept { return port_; }
  tcp_socket accept();
  /// Ends accept, in whichever thread that waits: it fails.
  void stop() noexcept;

private:
  tcp_socket socket_;
  int port_ = 0;
};

} // namespace bench
