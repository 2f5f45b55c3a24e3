// What a thread waits for that owns a connection: its socket, and a call from other threads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>

#include "base/unique_fd.hpp"

namespace pubsub::bridge {

/// At most one socket, which may be another one later. `fd` stays the same. Changes of what is
/// waited for are thread-safe.
class event_loop {
public:
  struct events {
    bool readable = false;
    bool writable = false;
  };

  /// Throws std::system_error where the process has no descriptors left.
  event_loop();

  /// Readable while there is something to do.
  int fd() const noexcept { return epoll_.get(); }
  /// Makes `fd` readable until the next `look`.
  void wake() noexcept;
  /// The socket is waited for from now on; it must be taken out before it is closed.
  void add(int socket, bool read, bool write) noexcept;
  void change(int socket, bool read, bool write) noexcept;
  void remove(int socket) noexcept;
  /// What the socket is ready for.
  events look() noexcept;
  /// Until there is something to do, for `timeout` at most.
  void wait(std::chrono::milliseconds timeout) noexcept;

private:
  void control(int operation, int socket, bool read, bool write) noexcept;

  unique_fd epoll_;
  unique_fd wake_;
};

} // namespace pubsub::bridge
