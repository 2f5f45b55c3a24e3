// The limit of a round trip: calls on a loopback TCP connection, nothing in between.
#include "bench/round_trip.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace pubsub::tool::bench {

namespace {

[[noreturn]] void fail_call(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

int make_socket() {
  auto fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    fail_call("socket");
  return fd;
}

void send_at_once(int fd) {
  int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool write_all(int fd, const std::byte* bytes, std::size_t n) {
  while (n > 0) {
    auto written = ::send(fd, bytes, n, MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    bytes += written;
    n -= static_cast<std::size_t>(written);
  }
  return true;
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
      : how_(how), fd_(make_socket()), out_(sizeof(std::uint64_t) + payload_bytes),
        in_(out_.size()) {
    auto address = loopback(port);
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      auto cause = errno;
      ::close(fd_);
      errno = cause;
      fail_call("connect");
    }
    send_at_once(fd_);
  }
  ~bare_trip() override { ::close(fd_); }

private:
  bool send(std::uint64_t number) override {
    std::memcpy(out_.data(), &number, sizeof number);
    return write_all(fd_, out_.data(), out_.size());
  }

  std::optional<std::uint64_t> receive(std::chrono::nanoseconds timeout) override {
    if (timeout != timeout_) {
      auto us = std::chrono::duration_cast<std::chrono::microseconds>(timeout_ = timeout).count();
      timeval limit{us / 1'000'000, us % 1'000'000};
      ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    }
    for (std::size_t got = 0; got < in_.size();) {
      auto n = receive_some(fd_, in_.data() + got, in_.size() - got, how_);
      if (n <= 0)
        return std::nullopt;
      got += static_cast<std::size_t>(n);
    }
    std::uint64_t number = 0;
    std::memcpy(&number, in_.data(), sizeof number);
    return number;
  }

  const waiting how_;
  int fd_;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
  std::chrono::nanoseconds timeout_{0};
};

} // namespace

std::unique_ptr<round_trip> make_bare_trip(std::uint16_t port, std::size_t payload_bytes,
                                           waiting how) {
  return std::make_unique<bare_trip>(port, payload_bytes, how);
}

echo_socket::echo_socket(waiting how) : how_(how), listener_(make_socket()) {
  auto address = loopback(0);
  socklen_t size = sizeof address;
  auto raw = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, raw, size) != 0 || ::listen(listener_, 1) != 0 ||
      ::getsockname(listener_, raw, &size) != 0) {
    auto cause = errno;
    ::close(listener_);
    errno = cause;
    fail_call("listen");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread{[this] { run(); }};
}

echo_socket::~echo_socket() {
  ::shutdown(listener_, SHUT_RDWR); // ends accept
  if (auto fd = connection_.load(); fd >= 0)
    ::shutdown(fd, SHUT_RDWR);
  thread_.join();
  if (auto fd = connection_.load(); fd >= 0)
    ::close(fd);
  ::close(listener_);
}

void echo_socket::run() {
  auto fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0)
    return;
  connection_ = fd;
  send_at_once(fd);
  std::vector<std::byte> buffer(256 * 1024);
  for (;;) {
    auto n = receive_some(fd, buffer.data(), buffer.size(), how_);
    if (n <= 0 || !write_all(fd, buffer.data(), static_cast<std::size_t>(n)))
      return;
  }
}

} // namespace pubsub::tool::bench
