// SPDX-License-Identifier: BSD-3-Clause
#include "clients/swarm.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace pubsub::tool::bench {

namespace {

// As many handshakes run at a time: more only fill the queue of the listening socket.
constexpr std::size_t most_at_once = 64;

[[noreturn]] void fail_with_errno(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

} // namespace

struct swarm::connection {
  connection() = default;
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection() {
    if (fd >= 0)
      ::close(fd);
  }

  int fd = -1;
  bool connected = false;
  std::unique_ptr<swarm_client> client;
  std::vector<std::byte> in;
  std::vector<std::byte> out;
};

swarm::swarm(int port, std::size_t clients,
             const std::function<std::unique_ptr<swarm_client>()>& make)
    : port_(port), poll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (poll_ < 0)
    fail_with_errno("epoll_create1");
  for (std::size_t i = 0; i < clients; ++i) {
    all_.push_back(std::make_unique<connection>());
    all_.back()->client = make();
  }
}

swarm::~swarm() {
  ::close(poll_);
}

void swarm::connect_more() {
  while (begun_ < all_.size() && begun_ < ready_ + most_at_once) {
    auto& x = *all_[begun_++];
    x.fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (x.fd < 0)
      fail_with_errno("socket");
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port_));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(x.fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0 &&
        errno != EINPROGRESS)
      fail_with_errno("connect");
    epoll_event wanted{.events = EPOLLIN | EPOLLOUT | EPOLLET, .data = {.ptr = &x}};
    if (::epoll_ctl(poll_, EPOLL_CTL_ADD, x.fd, &wanted) != 0)
      fail_with_errno("epoll_ctl");
  }
}

void swarm::send(connection& x) {
  while (!x.out.empty()) {
    const auto n = ::send(x.fd, x.out.data(), x.out.size(), MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == ENOTCONN))
      return;
    if (n < 0)
      fail_with_errno("send");
    x.out.erase(x.out.begin(), x.out.begin() + n);
  }
}

void swarm::serve(connection& x) {
  if (!std::exchange(x.connected, true))
    x.client->begin(x.out);
  send(x);
  const bool was_ready = x.client->ready();
  const bool was_reached = x.client->messages() >= expected_;
  std::array<std::byte, 16'384> buffer;
  for (;;) {
    const auto n = ::recv(x.fd, buffer.data(), buffer.size(), 0);
    if (n < 0 && (errno == EAGAIN || errno == ENOTCONN))
      break;
    if (n < 0)
      fail_with_errno("recv");
    if (n == 0)
      throw std::runtime_error("the server has closed a connection");
    x.in.insert(x.in.end(), buffer.begin(), buffer.begin() + n);
    if (n < static_cast<ssize_t>(buffer.size()))
      break; // that was all there is
  }
  const auto taken = x.client->receive(x.in, x.out);
  x.in.erase(x.in.begin(), x.in.begin() + static_cast<std::ptrdiff_t>(taken));
  send(x);
  ready_ += !was_ready && x.client->ready() ? 1 : 0;
  reached_ += !was_reached && x.client->messages() >= expected_ ? 1 : 0;
}

bool swarm::run(int also, const std::function<bool()>& met) {
  epoll_event parent{.events = EPOLLIN, .data = {.ptr = nullptr}};
  if (also >= 0 && ::epoll_ctl(poll_, EPOLL_CTL_ADD, also, &parent) != 0)
    fail_with_errno("epoll_ctl");
  std::array<epoll_event, 256> events;
  bool asked = false;
  while (!asked && !met()) {
    connect_more();
    const auto n = ::epoll_wait(poll_, events.data(), static_cast<int>(events.size()), -1);
    if (n < 0 && errno != EINTR)
      fail_with_errno("epoll_wait");
    for (int i = 0; i < n; ++i)
      if (auto* const at = static_cast<connection*>(events[static_cast<std::size_t>(i)].data.ptr))
        serve(*at);
      else
        asked = true;
  }
  if (also >= 0)
    ::epoll_ctl(poll_, EPOLL_CTL_DEL, also, nullptr);
  return !asked;
}

} // namespace pubsub::tool::bench
