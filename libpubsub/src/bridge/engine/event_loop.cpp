// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/engine/event_loop.hpp"

#include <cerrno>
#include <system_error>

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

namespace pubsub::bridge {

event_loop::event_loop()
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!epoll_.valid() || !wake_.valid())
    throw std::system_error{errno, std::generic_category(), "a bridge has no descriptor"};
  add(wake_.get(), true, false);
}

void event_loop::wake() noexcept {
  const std::uint64_t one = 1;
  // Where it cannot be written it is full, and so readable.
  [[maybe_unused]] const auto n = ::write(wake_.get(), &one, sizeof one);
}

void event_loop::control(int operation, int socket, bool read, bool write) noexcept {
  epoll_event wanted{};
  wanted.events =
      (read ? std::uint32_t{EPOLLIN | EPOLLRDHUP} : 0) | (write ? std::uint32_t{EPOLLOUT} : 0);
  wanted.data.fd = socket;
  ::epoll_ctl(epoll_.get(), operation, socket, &wanted);
}

void event_loop::add(int socket, bool read, bool write) noexcept {
  control(EPOLL_CTL_ADD, socket, read, write);
}

void event_loop::change(int socket, bool read, bool write) noexcept {
  control(EPOLL_CTL_MOD, socket, read, write);
}

void event_loop::remove(int socket) noexcept {
  control(EPOLL_CTL_DEL, socket, false, false);
}

event_loop::events event_loop::look() noexcept {
  epoll_event found[2];
  const int count = ::epoll_wait(epoll_.get(), found, 2, 0);
  events result;
  for (int i = 0; i < count; ++i) {
    if (found[i].data.fd == wake_.get()) {
      std::uint64_t ignored = 0;
      [[maybe_unused]] const auto n = ::read(wake_.get(), &ignored, sizeof ignored);
      continue;
    }
    // An error shows when it is read from.
    result.readable = (found[i].events & ~std::uint32_t{EPOLLOUT}) != 0;
    result.writable = (found[i].events & EPOLLOUT) != 0;
  }
  return result;
}

void event_loop::wait(std::chrono::milliseconds timeout) noexcept {
  pollfd one{fd(), POLLIN, 0};
  ::poll(&one, 1, timeout.count() > 0 ? static_cast<int>(timeout.count()) : 0);
}

} // namespace pubsub::bridge
