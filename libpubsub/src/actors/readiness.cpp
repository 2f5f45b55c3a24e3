// SPDX-License-Identifier: BSD-3-Clause
#include "actors/readiness.hpp"

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <pubsub/caf/actors.hpp>

#include "actors/tell.hpp"

namespace pubsub::caf {

namespace {

constexpr std::uint64_t stop_number = 0;

int checked(int result, const char* what) {
  if (result < 0)
    throw std::system_error(errno, std::generic_category(), what);
  return result;
}

int control(int poll, int operation, int fd, std::uint32_t events, std::uint64_t number) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = number;
  return ::epoll_ctl(poll, operation, fd, &event);
}

} // namespace

std::shared_ptr<readiness> readiness::shared() {
  static std::mutex mutex;
  static std::weak_ptr<readiness> the_one;
  std::lock_guard lock{mutex};
  auto result = the_one.lock();
  if (!result)
    the_one = result = std::make_shared<readiness>();
  return result;
}

readiness::readiness()
    : poll_(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      stop_(checked(::eventfd(0, EFD_CLOEXEC), "eventfd")) {
  checked(control(poll_.get(), EPOLL_CTL_ADD, stop_.get(), EPOLLIN, stop_number), "epoll_ctl");
  thread_ = std::thread{[this] { run(); }};
}

readiness::~readiness() {
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
}

std::uint64_t readiness::add(int fd, ::caf::actor who) {
  std::lock_guard lock{mutex_};
  const auto number = ++last_;
  checked(control(poll_.get(), EPOLL_CTL_ADD, fd, EPOLLONESHOT, number), "epoll_ctl");
  entries_.emplace(number, entry{fd, std::move(who)});
  return number;
}

void readiness::tell_once(std::uint64_t number) {
  std::lock_guard lock{mutex_};
  if (const auto found = entries_.find(number); found != entries_.end())
    control(poll_.get(), EPOLL_CTL_MOD, found->second.fd, EPOLLIN | EPOLLONESHOT, number);
}

void readiness::forget(std::uint64_t number) {
  std::unordered_map<std::uint64_t, entry>::node_type gone; // its actor is let go of unlocked
  std::lock_guard lock{mutex_};
  gone = entries_.extract(number);
  if (gone)
    control(poll_.get(), EPOLL_CTL_DEL, gone.mapped().fd, 0, 0);
}

void readiness::run() {
  std::array<epoll_event, 64> events{};
  for (;;) {
    const int n = ::epoll_wait(poll_.get(), events.data(), int(events.size()), -1);
    std::lock_guard lock{mutex_};
    for (int i = 0; i < n; ++i) {
      const auto number = events[std::size_t(i)].data.u64;
      if (number == stop_number)
        return;
      if (const auto found = entries_.find(number); found != entries_.end())
        tell(found->second.who, feed_signal{feed_signal::kind::readable});
    }
  }
}

} // namespace pubsub::caf
