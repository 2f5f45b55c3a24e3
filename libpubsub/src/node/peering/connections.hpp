// How the connections of an endpoint come about: of which kind they are, and how many strangers may
// be at the door.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "link/peer_link.hpp"
#include "node/peering/tuning.hpp"
#include "transport/listener.hpp"
#include "transport/memory/memory_connection.hpp"
#include "transport/tls/tls_connection.hpp"
#include "wire/broker/handshake.hpp"

namespace pubsub {

/// The context that new connections use; null until one is needed. Thread-safe.
class current_context {
public:
  tls_context load() const {
    std::lock_guard lock{mutex_};
    return context_;
  }
  void store(tls_context x) {
    std::lock_guard lock{mutex_};
    context_.swap(x);
  }

private:
  mutable std::mutex mutex_; // guards context_
  tls_context context_;
};

/// Connections of the kind that an address names: in the clear or with TLS. Reads keys and
/// certificates when they are first needed, and when they are to be renewed. Thread-safe.
class connection_factories {
public:
  connection_factories(tls_options options, const shared_memory_options& memory)
      : options_(std::move(options)), memory_(memory) {}

  /// From now on connections use these keys and certificates, those of factories made before too.
  /// Errors: those of `check(tls_options)`; then nothing has changed.
  expected<void> renew(const tls_options& options) {
    auto made = make_tls_context(options);
    if (!made)
      return made.error();
    std::lock_guard lock{mutex_};
    options_ = options;
    tls_->store(std::move(*made));
    return {};
  }
  /// When the certificate that is shown expires; nothing without one.
  std::optional<std::chrono::sys_seconds> expiry() {
    {
      std::lock_guard lock{mutex_};
      if (!options_.authenticated())
        return {};
    }
    const auto context = find_context();
    return context ? certificate_expiry(*context) : std::nullopt;
  }

  /// Errors: those of `check(tls_options)`.
  expected<connection_factory> make(encryption security, tls_role role) {
    if (security == encryption::none)
      return connection_factory{[memory = memory_, role](auto loop, auto socket) {
        return memory.use == shared_memory::on && is_within_host(socket)
                   ? make_memory_connection(std::move(loop), std::move(socket),
                                            role == tls_role::client ? memory_role::proposes
                                                                     : memory_role::agrees,
                                            memory)
                   : std::make_shared<connection>(std::move(loop), std::move(socket));
      }};
    if (const auto found = find_context(); !found)
      return found.error();
    const auto refusal =
        role == tls_role::server ? wire::make_tls_refusal() : std::vector<std::byte>{};
    return connection_factory{[current = tls_, role, refusal](auto loop, auto socket) {
      return make_tls_connection(std::move(loop), std::move(socket), current->load(), role,
                                 refusal);
    }};
  }

private:
  expected<tls_context> find_context() {
    std::lock_guard lock{mutex_};
    if (auto found = tls_->load())
      return found;
    auto made = make_tls_context(options_);
    if (made)
      tls_->store(*made);
    return made;
  }

  static bool is_within_host(const stream_protocol::socket& x) {
    error_code failure;
    return x.local_endpoint(failure).protocol().family() == AF_UNIX && !failure;
  }

  std::mutex mutex_; // guards options_ and what tls_ points to
  tls_options options_;
  const shared_memory_options memory_;
  const std::shared_ptr<current_context> tls_ = std::make_shared<current_context>();
};

/// Holds `max_half_open` accepted connections that are not peered yet. Where one more comes, it
/// takes the place of one that has said nothing, the oldest from the address that most of those
/// come from, or of one whose handshake takes too long; if there is none, it waits in the kernel.
/// So strangers who open connections and are silent keep no peer out, however far away it is.
/// Guarded by the peering's mutex.
class acceptor {
public:
  using clock = peer_link::clock;

  explicit acceptor(std::size_t max_half_open) : max_half_open_(max_half_open) {}

  void add(std::shared_ptr<listener> fresh) { listeners_.push_back(std::move(fresh)); }
  void stop() {
    for (const auto& each : listeners_)
      each->stop();
  }
  /// Asked before each connection. If not, listeners wait until there is room, and ask again.
  bool may_accept() {
    paused_ = half_open_.size() >= max_half_open_ && find_dispensable() == half_open_.end();
    return !paused_;
  }
  /// The connection that has to go for this one, or null.
  std::shared_ptr<peer_link> note_accepted(std::shared_ptr<peer_link> fresh) {
    std::shared_ptr<peer_link> result;
    if (half_open_.size() >= max_half_open_)
      if (const auto found = find_dispensable(); found != half_open_.end()) {
        result = std::move(found->carrier);
        half_open_.erase(found);
      }
    half_open_.push_back({std::move(fresh), clock::now()});
    return result;
  }
  /// An accepted connection has become a peering, or is closed.
  void note_settled(const std::shared_ptr<peer_link>& carrier) {
    std::erase_if(half_open_, [&](const auto& each) { return each.carrier == carrier; });
    if (!paused_ || half_open_.size() >= max_half_open_)
      return;
    paused_ = false;
    for (const auto& each : listeners_)
      each->resume();
  }

private:
  struct half_open {
    std::shared_ptr<peer_link> carrier;
    clock::time_point since;
  };

  std::vector<half_open>::iterator find_dispensable() {
    std::unordered_map<std::string_view, std::size_t> silent; // by address
    for (const auto& each : half_open_)
      if (!each.carrier->has_spoken())
        ++silent[each.carrier->remote().address];
    if (!silent.empty()) {
      const auto most =
          std::ranges::max_element(silent, {}, [](const auto& x) { return x.second; });
      return std::ranges::find_if(half_open_, [&](const auto& each) {
        return each.carrier->remote().address == most->first && !each.carrier->has_spoken();
      });
    }
    const auto oldest = half_open_.begin();
    return oldest->since + peering_tuning::patience_with_handshakes < clock::now()
               ? oldest
               : half_open_.end();
  }

  const std::size_t max_half_open_;
  std::vector<std::shared_ptr<listener>> listeners_;
  std::vector<half_open> half_open_; // in the order in which they came
  bool paused_ = false;
};

} // namespace pubsub
