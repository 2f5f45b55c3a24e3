// How the connections of an endpoint come about: of which kind they are, and how many strangers may
// be at the door.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "transport/listener.hpp"
#include "transport/tls/tls_connection.hpp"
#include "wire/broker/handshake.hpp"

namespace pubsub {

/// Connections of the kind that an address names: in the clear or with TLS. Reads keys and
/// certificates when they are first needed. Thread-safe.
class connection_factories {
public:
  explicit connection_factories(tls_options options) : options_(std::move(options)) {}

  /// Errors: those of `check(tls_options)`.
  expected<connection_factory> make(encryption security, tls_role role) {
    if (security == encryption::none)
      return connection_factory{[](auto loop, auto socket) {
        return std::make_shared<connection>(std::move(loop), std::move(socket));
      }};
    std::lock_guard lock{mutex_};
    if (!tls_) {
      auto made = make_tls_context(options_);
      if (!made)
        return made.error();
      tls_ = std::move(*made);
    }
    const auto refusal =
        role == tls_role::server ? wire::make_tls_refusal() : std::vector<std::byte>{};
    return connection_factory{[context = tls_, role, refusal](auto loop, auto socket) {
      return make_tls_connection(std::move(loop), std::move(socket), context, role, refusal);
    }};
  }

private:
  const tls_options options_;
  std::mutex mutex_; // guards the following
  tls_context tls_;  // null until needed
};

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
