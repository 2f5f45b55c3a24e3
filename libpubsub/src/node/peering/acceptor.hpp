// The addresses an endpoint listens at, and how many strangers may be at the door.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "transport/listener.hpp"

namespace pubsub {

/// Accepts no more connections while `max_half_open` of those accepted are not peered yet. Guarded
/// by the peering's mutex.
class acceptor {
public:
  explicit acceptor(std::size_t max_half_open) : max_half_open_(max_half_open) {}

  void add(std::shared_ptr<listener> fresh) { listeners_.push_back(std::move(fresh)); }
  void stop() {
    for (const auto& each : listeners_)
      each->stop();
  }
  /// Asked before each connection. If not, listeners wait until there is room.
  bool may_accept() noexcept {
    paused_ = half_open_ >= max_half_open_;
    return !paused_;
  }
  void note_accepted() {
    ++half_open_;
    resume();
  }
  /// An accepted connection has become a peering, or is closed.
  void note_settled() {
    --half_open_;
    resume();
  }

private:
  void resume() {
    if (!paused_ || half_open_ >= max_half_open_)
      return;
    paused_ = false;
    for (const auto& each : listeners_)
      each->resume();
  }

  const std::size_t max_half_open_;
  std::vector<std::shared_ptr<listener>> listeners_;
  std::size_t half_open_ = 0;
  bool paused_ = false;
};

} // namespace pubsub
