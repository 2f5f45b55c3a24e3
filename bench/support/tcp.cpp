// SPDX-License-Identifier: BSD-3-Clause
#include "support/tcp.hpp"

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace bench {

namespace {

[[noreturn]] void fail(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

int checked(int result, const char* call) {
  if (result < 0)
    fail(call);
  return result;
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int open_socket() {
  return checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
}

void send_at_once(int fd) {
  int on = 1;
  checked(::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "setsockopt");
}

} // namespace

tcp_socket::~tcp_socket() {
  if (fd_ >= 0)
    ::close(fd_);
}

tcp_socket tcp_socket::connect(int port) {
  tcp_socket result{open_socket()};
  auto address = loopback(port);
  checked(::connect(result.fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), "connect");
  send_at_once(result.fd_);
  return result;
}

std::size_t tcp_socket::read_some(void* to, std::size_t at_most) {
  auto n = ::read(fd_, to, at_most);
  if (n < 0)
    fail("read");
  return static_cast<std::size_t>(n);
}

void tcp_socket::write_all(const void* from, std::size_t n) {
  for (auto at = static_cast<const std::byte*>(from); n > 0;) {
    auto done = ::send(fd_, at, n, MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      fail("write");
    at += done;
    n -= static_cast<std::size_t>(done);
  }
}

tcp_listener::tcp_listener() : socket_(open_socket()) {
  auto address = loopback(0);
  auto where = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  checked(::bind(socket_.fd(), where, size), "bind");
  checked(::listen(socket_.fd(), 4), "listen");
  checked(::getsockname(socket_.fd(), where, &size), "getsockname");
  port_ = ntohs(address.sin_port);
}

tcp_socket tcp_listener::accept() {
  tcp_socket result{checked(::accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC), "accept")};
  send_at_once(result.fd());
  return result;
}

void tcp_listener::stop() noexcept {
  ::shutdown(socket_.fd(), SHUT_RDWR);
}

} // namespace bench
