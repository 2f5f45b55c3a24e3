// SPDX-License-Identifier: BSD-3-Clause
#include "studies/emulator/socket.hpp"

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace emulator {

namespace {

constexpr int kernel_bytes = 512 * 1024;

[[noreturn]] void fail(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

void set(int fd, int level, int name, int value) noexcept {
  ::setsockopt(fd, level, name, &value, sizeof value);
}

socket_address own_address(const socket& x) {
  socket_address result;
  result.size = sizeof result.storage;
  if (::getsockname(x.fd(), reinterpret_cast<sockaddr*>(&result.storage), &result.size) != 0)
    fail("getsockname");
  return result;
}

} // namespace

socket& socket::operator=(socket&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void socket::close() noexcept {
  if (fd_ >= 0)
    ::close(std::exchange(fd_, -1));
}

void socket::reset() noexcept {
  const linger at_once{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

void socket::tune() noexcept {
  set(fd_, IPPROTO_TCP, TCP_NODELAY, 1);
  set(fd_, SOL_SOCKET, SO_SNDBUF, kernel_bytes);
}

bool socket::all_sent() const noexcept {
  int waiting = 0;
  return ::ioctl(fd_, SIOCOUTQ, &waiting) != 0 || waiting == 0;
}

int socket::error() const noexcept {
  int code = 0;
  socklen_t size = sizeof code;
  return ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &code, &size) == 0 ? code : errno;
}

socket_address::socket_address(const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon == text.npos || colon + 1 == text.size())
    throw std::runtime_error{"\"" + text + "\" is no address like 127.0.0.1:9999"};
  auto host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']'))
    host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const bool any = host.empty() || host == "*";
  const auto problem =
      ::getaddrinfo(any ? nullptr : host.c_str(), text.c_str() + colon + 1, &hints, &found);
  if (problem != 0)
    throw std::runtime_error{"address " + text + ": " + ::gai_strerror(problem)};
  size = found->ai_addrlen;
  std::char_traits<char>::copy(reinterpret_cast<char*>(&storage),
                               reinterpret_cast<const char*>(found->ai_addr), size);
  ::freeaddrinfo(found);
}

socket listen_on(const socket_address& where) {
  socket result{::socket(where.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!result)
    fail("socket");
  set(result.fd(), SOL_SOCKET, SO_REUSEADDR, 1);
  // Accepted sockets have it from here: it must be known before the handshake.
  set(result.fd(), SOL_SOCKET, SO_RCVBUF, kernel_bytes);
  if (::bind(result.fd(), where.get(), where.size) != 0)
    fail("bind");
  if (::listen(result.fd(), SOMAXCONN) != 0)
    fail("listen");
  return result;
}

std::string local_address(const socket& x) {
  const auto address = own_address(x);
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  const auto problem = ::getnameinfo(address.get(), address.size, host, sizeof host, port,
                                     sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
  if (problem != 0)
    throw std::runtime_error{std::string{"getnameinfo: "} + ::gai_strerror(problem)};
  const bool bracketed = address.storage.ss_family == AF_INET6;
  return (bracketed ? "[" + std::string{host} + "]" : std::string{host}) + ":" + port;
}

std::uint16_t local_port(const socket& x) {
  const auto address = own_address(x);
  if (address.storage.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port);
}

socket begin_connect(const socket_address& where) {
  socket result{::socket(where.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!result)
    return result;
  set(result.fd(), SOL_SOCKET, SO_RCVBUF, kernel_bytes);
  result.tune();
  if (::connect(result.fd(), where.get(), where.size) != 0 && errno != EINPROGRESS)
    result.close();
  return result;
}

} // namespace emulator
