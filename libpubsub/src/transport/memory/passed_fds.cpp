// SPDX-License-Identifier: BSD-3-Clause
#include "transport/memory/passed_fds.hpp"

#include <algorithm>
#include <cstring>

#include <sys/socket.h>
#include <sys/uio.h>

namespace pubsub {

namespace {

/// Pieces of one call; what is beyond them is sent by the next.
constexpr std::size_t max_pieces = 64;

/// Room for one control message of so many descriptors.
template <std::size_t Count>
struct control_room {
  alignas(cmsghdr) std::byte bytes[CMSG_SPACE(Count * sizeof(int))]{};
};

struct pieces {
  explicit pieces(std::span<const asio::const_buffer> from) noexcept {
    header.msg_iov = each;
    header.msg_iovlen = std::min(from.size(), max_pieces);
    for (std::size_t i = 0; i < header.msg_iovlen; ++i)
      each[i] = {const_cast<void*>(from[i].data()), from[i].size()}; // only read
  }

  iovec each[max_pieces];
  msghdr header{};
};

int socket_option(int fd, int option) noexcept {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

} // namespace

ssize_t send_bytes(int socket, std::span<const asio::const_buffer> from) noexcept {
  const pieces all{from};
  return ::sendmsg(socket, &all.header, MSG_DONTWAIT | MSG_NOSIGNAL);
}

ssize_t proposal::send(int socket, std::span<const asio::const_buffer> from) const noexcept {
  pieces all{from};
  control_room<2> room;
  all.header.msg_control = room.bytes;
  all.header.msg_controllen = sizeof room.bytes;
  auto* const control = CMSG_FIRSTHDR(&all.header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  const std::array fds{memory_.get(), bell_.get()};
  control->cmsg_len = CMSG_LEN(sizeof fds);
  std::memcpy(CMSG_DATA(control), fds.data(), sizeof fds);
  return ::sendmsg(socket, &all.header, MSG_DONTWAIT | MSG_NOSIGNAL);
}

ssize_t passed_fds::receive(int socket, asio::mutable_buffer into) noexcept {
  iovec piece{into.data(), into.size()};
  control_room<std::tuple_size_v<decltype(fds_)>> room;
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  header.msg_control = room.bytes;
  header.msg_controllen = sizeof room.bytes;
  const auto result = ::recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (result < 0)
    return result;
  for (auto* each = CMSG_FIRSTHDR(&header); each != nullptr; each = CMSG_NXTHDR(&header, each)) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS)
      continue;
    const auto count = (each->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(each) + i * sizeof fd, sizeof fd);
      unique_fd owned{fd};
      if (count_ < fds_.size())
        fds_[count_++] = std::move(owned);
    }
  }
  return result;
}

std::optional<std::pair<unique_fd, unique_fd>> make_bell() noexcept {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
    return {};
  return std::pair{unique_fd{ends[0]}, unique_fd{ends[1]}};
}

bool is_bell(const unique_fd& x) noexcept {
  return socket_option(x.get(), SO_DOMAIN) == AF_UNIX &&
         socket_option(x.get(), SO_TYPE) == SOCK_STREAM;
}

} // namespace pubsub
