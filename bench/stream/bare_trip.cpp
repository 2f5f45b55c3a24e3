// The limit of a round trip: calls on a loopback TCP connection, nothing in between.
// SPDX-License-Identifier: BSD-3-Clause
#include "stream/round_trip.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include <sys/socket.h>

namespace pubsub::tool::bench {

namespace {

using ::bench::tcp_socket;

// False where the connection has ended.
bool write_all(tcp_socket& to, const std::byte* bytes, std::size_t n) {
  try {
    to.write_all(bytes, n);
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

// What `recv` returns, once it is not that there is nothing yet.
ssize_t receive_some(int fd, std::byte* into, std::size_t n, waiting how) {
  for (;;) {
    auto got = ::recv(fd, into, n, how == waiting::awake ? MSG_DONTWAIT : 0);
    if (got < 0 && (errno == EINTR || (how == waiting::awake && errno == EAGAIN)))
      continue;
    return got;
  }
}

// A message is its number and the payload, always of the same length.
class bare_trip final : public round_trip {
public:
  bare_trip(std::uint16_t port, std::size_t payload_bytes, waiting how)
      : how_(how), socket_(tcp_socket::connect(port)), out_(sizeof(std::uint64_t) + payload_bytes),
        in_(out_.size()) {}

private:
  bool send(std::uint64_t number) override {
    std::memcpy(out_.data(), &number, sizeof number);
    return write_all(socket_, out_.data(), out_.size());
  }

  std::optional<std::uint64_t> receive(std::chrono::nanoseconds timeout) override {
    if (timeout != timeout_) {
      auto us = std::chrono::duration_cast<std::chrono::microseconds>(timeout_ = timeout).count();
      timeval limit{us / 1'000'000, us % 1'000'000};
      ::setsockopt(socket_.fd(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    }
    for (std::size_t got = 0; got < in_.size();) {
      auto n = receive_some(socket_.fd(), in_.data() + got, in_.size() - got, how_);
      if (n <= 0)
        return std::nullopt;
      got += static_cast<std::size_t>(n);
    }
    std::uint64_t number = 0;
    std::memcpy(&number, in_.data(), sizeof number);
    return number;
  }

  const waiting how_;
  tcp_socket socket_;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
  std::chrono::nanoseconds timeout_{0};
};

} // namespace

std::unique_ptr<round_trip> make_bare_trip(std::uint16_t port, std::size_t payload_bytes,
                                           waiting how) {
  return std::make_unique<bare_trip>(port, payload_bytes, how);
}

echo_socket::echo_socket(waiting how) : how_(how) {
  thread_ = std::thread{[this] { run(); }};
}

echo_socket::~echo_socket() {
  listener_.stop();
  if (auto fd = connected_.load(); fd >= 0)
    ::shutdown(fd, SHUT_RDWR);
  thread_.join();
}

void echo_socket::run() {
  try {
    connection_.emplace(listener_.accept());
  } catch (const std::system_error&) {
    return; // stopped
  }
  connected_ = connection_->fd();
  std::vector<std::byte> buffer(256 * 1024);
  for (;;) {
    auto n = receive_some(connection_->fd(), buffer.data(), buffer.size(), how_);
    if (n <= 0 || !write_all(*connection_, buffer.data(), static_cast<std::size_t>(n)))
      return;
  }
}

} // namespace pubsub::tool::bench
