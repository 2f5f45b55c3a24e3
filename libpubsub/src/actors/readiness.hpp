// Tells actors that a file descriptor is readable.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

#include <caf/actor.hpp>

#include "base/unique_fd.hpp"

namespace pubsub::caf {

/// One thread for all subscriptions of actors in the process, as long as there are any: actors may
/// not block, and the framework's core waits for no file descriptors. It only sends a message to
/// an actor, and takes nothing from a queue. Thread-safe.
class readiness {
public:
  /// The one of the process. Throws std::system_error where the system has no descriptors, or no
  /// thread, left.
  static std::shared_ptr<readiness> shared();

  readiness();
  readiness(const readiness&) = delete;
  readiness& operator=(const readiness&) = delete;
  /// Not from its own thread: actors forget their descriptor before they end.
  ~readiness();

  /// Keeps the actor until it is forgotten; tells it nothing yet. Returns a number for the calls
  /// below; throws as `shared`.
  std::uint64_t add(int fd, ::caf::actor who);
  /// The actor is told once that the descriptor is readable: at once if it is.
  void tell_once(std::uint64_t number);
  /// Before the descriptor is closed.
  void forget(std::uint64_t number);

private:
  struct entry {
    int fd = -1;
    ::caf::actor who;
  };

  void run();

  unique_fd poll_, stop_;
  std::mutex mutex_; // guards the following
  std::unordered_map<std::uint64_t, entry> entries_;
  std::uint64_t last_ = 0;
  std::thread thread_; // last: it uses the others
};

} // namespace pubsub::caf
