// Descriptors that go over a socket of the host beside its bytes (unix(7), SCM_RIGHTS).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include <sys/types.h>

#include "base/unique_fd.hpp"
#include "transport/asio.hpp"

namespace pubsub {

/// Memory and bell, for the peer, which get there with the first bytes that are sent.
class proposal {
public:
  proposal(unique_fd memory, unique_fd bell) : memory_(std::move(memory)), bell_(std::move(bell)) {}

  /// As `send_bytes`.
  ssize_t send(int socket, std::span<const asio::const_buffer> from) const noexcept;

private:
  unique_fd memory_;
  unique_fd bell_;
};

/// What came beside the bytes of one read. Any number of descriptors may come from a peer: what is
/// not taken is closed.
class passed_fds {
public:
  /// As recv(2), without waiting.
  ssize_t receive(int socket, asio::mutable_buffer into) noexcept;
  bool empty() const noexcept { return count_ == 0; }
  /// The first two, invalid where they have not come.
  std::pair<unique_fd, unique_fd> take_pair() noexcept {
    return {std::move(fds_[0]), std::move(fds_[1])};
  }

private:
  std::array<unique_fd, 4> fds_; // the system keeps back what is beyond these
  std::size_t count_ = 0;
};

/// As writev(2), without waiting, and without SIGPIPE.
ssize_t send_bytes(int socket, std::span<const asio::const_buffer> from) noexcept;

/// Two sockets that are connected with each other; nothing if the system refuses.
std::optional<std::pair<unique_fd, unique_fd>> make_bell() noexcept;
/// Whether it is one of such a pair.
bool is_bell(const unique_fd& x) noexcept;

} // namespace pubsub
