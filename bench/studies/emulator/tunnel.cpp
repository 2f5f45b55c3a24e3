// SPDX-License-Identifier: BSD-3-Clause
#include "studies/emulator/tunnel.hpp"

#include <algorithm>
#include <cerrno>

#include <sys/epoll.h>

namespace emulator {

namespace {

std::uint32_t wanted(const flow& in, const flow& out) noexcept {
  const bool reads = in.open && !in.held_back && !in.lost;
  return (reads ? static_cast<std::uint32_t>(EPOLLIN) : 0U) |
         (out.blocked ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
}

} // namespace

flow::took flow::read(std::size_t at_most, std::size_t& count) {
  count = 0;
  const auto room = bytes.room();
  const auto asked = std::min(room.size(), at_most);
  const auto n = ::recv(from.fd(), room.data(), asked, 0);
  if (n > 0) {
    count = static_cast<std::size_t>(n);
    bytes.filled(count);
    return count == asked ? took::more : took::all;
  }
  if (n == 0)
    return took::end;
  return errno == EAGAIN || errno == EINTR ? took::all : took::failed;
}

flow::gave flow::write(std::size_t& count) {
  count = 0;
  while (out_bytes > 0) {
    iovec parts[64];
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = bytes.list(out_bytes, parts);
    const auto n = ::sendmsg(to.fd(), &message, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return errno == EAGAIN ? gave::some : gave::failed;
    bytes.drop(static_cast<std::size_t>(n));
    out_bytes -= static_cast<std::size_t>(n);
    count += static_cast<std::size_t>(n);
  }
  return gave::all;
}

std::size_t flow::lose() {
  const auto vanished = bytes.size();
  bytes.clear();
  out_bytes = 0;
  lost = true;
  blocked = false;
  return vanished;
}

std::uint32_t tunnel::wanted_near() const noexcept {
  return wanted(up, down);
}

std::uint32_t tunnel::wanted_far() const noexcept {
  return connecting ? static_cast<std::uint32_t>(EPOLLOUT) : wanted(down, up);
}

} // namespace emulator
