// SPDX-License-Identifier: BSD-3-Clause
#include "service_manager.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace pubsub::tool {

service_manager::service_manager() {
  if (const char* const path = std::getenv("NOTIFY_SOCKET"))
    socket_ = path;
  if (const char* const time = std::getenv("WATCHDOG_USEC"); time != nullptr && !socket_.empty())
    if (const auto microseconds = std::strtoll(time, nullptr, 10); microseconds > 0)
      interval_ = std::chrono::microseconds{microseconds} / 2;
}

void service_manager::ready() const {
  tell("READY=1");
}
void service_manager::reloading() const {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  tell(fmt::format("RELOADING=1\nMONOTONIC_USEC={}",
                   std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1'000));
}
void service_manager::stopping() const {
  tell("STOPPING=1");
}
void service_manager::alive() const {
  tell("WATCHDOG=1");
}

/// A socket in the file system, or, with a leading @, in the abstract name space. News that cannot
/// be told are lost: the service manager has its own time limits.
void service_manager::tell(std::string_view news) const {
  sockaddr_un to{};
  if (socket_.empty() || socket_.size() >= sizeof to.sun_path)
    return;
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, socket_.data(), socket_.size());
  if (to.sun_path[0] == '@')
    to.sun_path[0] = '\0';
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  ::sendto(fd, news.data(), news.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&to),
           size);
  ::close(fd);
}

} // namespace pubsub::tool
