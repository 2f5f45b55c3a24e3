// Connections of the kind that an address names: in the clear or with TLS.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "transport/tls/tls_connection.hpp"
#include "transport/uri.hpp"
#include "wire/broker/handshake.hpp"

namespace pubsub {

/// Reads keys and certificates when they are first needed. Thread-safe.
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

} // namespace pubsub
