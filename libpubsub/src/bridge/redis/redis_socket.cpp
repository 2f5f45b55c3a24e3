// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/redis/redis_socket.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace pubsub::bridge {

namespace {

constexpr int patience_ms = 2000;

/// 0, or an errno.
int connect_within_patience(int socket, const sockaddr* address, socklen_t size) {
  if (::connect(socket, address, size) == 0)
    return 0;
  if (errno != EINPROGRESS && errno != EAGAIN)
    return errno;
  pollfd one{socket, POLLOUT, 0};
  if (::poll(&one, 1, patience_ms) != 1)
    return ETIMEDOUT;
  int failure = 0;
  socklen_t failure_size = sizeof failure;
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &failure, &failure_size) != 0)
    return errno;
  return failure;
}

/// A server that has vanished from the network is missed after some seconds.
void watch(int socket) {
  const int on = 1;
  const unsigned patience = 10'000;
  const int idle_seconds = 5;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle_seconds, sizeof idle_seconds);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &idle_seconds, sizeof idle_seconds);
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience, sizeof patience);
}

error unavailable(const redis_url& where, std::string_view why) {
  return {errc::peer_unavailable, where.shown() + ": " + std::string{why}};
}

expected<unique_fd> connect_to_path(const redis_url& where) {
  unique_fd result{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, where.path.data(),
              std::min(where.path.size(), sizeof address.sun_path - 1));
  const int failure =
      result.valid()
          ? connect_within_patience(result.get(), reinterpret_cast<const sockaddr*>(&address),
                                    sizeof address)
          : errno;
  if (failure != 0)
    return unavailable(where, std::strerror(failure));
  return result;
}

} // namespace

expected<unique_fd> connect_to(const redis_url& where) {
  if (!where.path.empty())
    return connect_to_path(where);
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  if (const int failure =
          ::getaddrinfo(where.host.c_str(), std::to_string(where.port).c_str(), &wanted, &list);
      failure != 0)
    return unavailable(where, ::gai_strerror(failure));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses{list, ::freeaddrinfo};
  int failure = EADDRNOTAVAIL;
  for (const auto* each = list; each != nullptr; each = each->ai_next) {
    unique_fd result{
        ::socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    failure = result.valid()
                  ? connect_within_patience(result.get(), each->ai_addr, each->ai_addrlen)
                  : errno;
    if (failure == 0) {
      watch(result.get());
      return result;
    }
  }
  return unavailable(where, std::strerror(failure));
}

} // namespace pubsub::bridge
