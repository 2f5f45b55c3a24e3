// SPDX-License-Identifier: BSD-3-Clause
#include "stop_signal.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <csignal>
#include <system_error>

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace pubsub::tool {

deadline deadline_after(std::optional<double> seconds) {
  if (!seconds)
    return std::nullopt;
  constexpr double longest = 1e9;
  auto span = std::chrono::duration<double>{std::clamp(*seconds, 0.0, longest)};
  return clock::now() + std::chrono::duration_cast<clock::duration>(span);
}

std::chrono::nanoseconds left_until(const deadline& end) {
  std::chrono::nanoseconds longest = std::chrono::hours{1};
  if (!end)
    return longest;
  return std::clamp<std::chrono::nanoseconds>(*end - clock::now(), std::chrono::nanoseconds{0},
                                              longest);
}

signal_source::signal_source(std::initializer_list<int> signals) {
  sigset_t all;
  sigemptyset(&all);
  for (const int each : signals)
    sigaddset(&all, each);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  fd_ = ::signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd_ < 0)
    throw std::system_error(errno, std::generic_category(), "signalfd");
}

signal_source::~signal_source() {
  ::close(fd_);
}

stop_signal::stop_signal() : signal_source({SIGINT, SIGTERM}) {}

// The signal stays pending, so the descriptor stays readable.
bool stop_signal::requested() const {
  pollfd entry{fd(), POLLIN, 0};
  return ::poll(&entry, 1, 0) > 0;
}

int command_signal::take() {
  signalfd_siginfo what;
  return ::read(fd(), &what, sizeof what) == sizeof what ? static_cast<int>(what.ssi_signo) : 0;
}

namespace {

// A descriptor may be -1, which poll passes over.
wake wait_for_any(int stop_fd, std::initializer_list<int> fds, const deadline& end) {
  constexpr std::size_t most = 4;
  assert(fds.size() <= most);
  std::array<pollfd, most + 1> entries{{{stop_fd, POLLIN, 0}}};
  std::ranges::transform(fds, entries.begin() + 1, [](int fd) { return pollfd{fd, POLLIN, 0}; });
  for (;;) {
    auto left = left_until(end);
    auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    struct ::timespec limit {
      seconds.count(), static_cast<long>((left - seconds).count())
    };
    auto n = ::ppoll(entries.data(), fds.size() + 1, &limit, nullptr);
    if (n < 0 && errno != EINTR)
      throw std::system_error(errno, std::generic_category(), "ppoll");
    if (n > 0)
      return entries[0].revents != 0 ? wake::stopped : wake::ready;
    if (end && clock::now() >= *end)
      return wake::timeout;
  }
}

} // namespace

wake wait_readable(int fd, const stop_signal& stop, const deadline& end) {
  return wait_for_any(stop.fd(), {fd}, end);
}

wake wait_for_one_of(std::initializer_list<int> fds, const stop_signal& stop, const deadline& end) {
  return wait_for_any(stop.fd(), fds, end);
}

wake wait_readable(int fd, const deadline& end) {
  return wait_for_any(-1, {fd}, end);
}

close_on_stop::close_on_stop(endpoint& ep, const stop_signal& stop) {
  if (::pipe(done_) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  watcher_ = std::thread{[this, &ep, &stop] {
    if (wait_readable(done_[0], stop, std::nullopt) == wake::stopped)
      ep.close();
  }};
}

close_on_stop::~close_on_stop() {
  ::close(done_[1]); // wakes the watcher
  watcher_.join();
  ::close(done_[0]);
}

} // namespace pubsub::tool
