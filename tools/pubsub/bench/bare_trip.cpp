// The limit of a round trip: blocking calls on a loopback TCP connection, nothing in between.
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

// A message is its number and the payload, always of the same length.
class bare_trip final : public round_trip {
public:
  bare_trip(std::uint16_t port, std::size_t payload_bytes)
      : fd_(make_socket()), out_(sizeof(std::uint64_t) + payload_bytes), in_(out_.size()) {
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
    auto n = ::recv(fd_, in_.data(), in_.size(), MSG_WAITALL);
    if (n != static_cast<ssize_t>(in_.size()))
      return std::nullopt;
    std::uint64_t number = 0;
    std::memcpy(&number, in_.data(), sizeof number);
    return number;
  }

  int fd_;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
  std::chrono::nanoseconds timeout_{0};
};

} // namespace

std::unique_ptr<round_trip> make_bare_trip(std::uint16_t port, std::size_t payload_bytes) {
  return std::make_unique<bare_trip>(port, payload_bytes);
}

echo_socket::echo_socket() : listener_(make_socket()) {
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
    auto n = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0 || !write_all(fd, buffer.data(), static_cast<std::size_t>(n)))
      return;
  }
}

} // namespace pubsub::tool::bench
