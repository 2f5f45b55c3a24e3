// What a Python Endpoint holds: the C++ endpoint, and publishers for the topics used lately.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>

#include <pubsub/endpoint.hpp>

#include "publisher_handle.hpp"
#include "waiting.hpp"

namespace pubsub::python {

/// Members are called with the GIL held. A thread inside a call keeps the endpoint alive, so the
/// Python object may go away, or be closed, at any time.
class endpoint_handle {
public:
  /// Starts the endpoint.
  explicit endpoint_handle(endpoint_options options);
  /// Closes the endpoint without the GIL. After a fork nothing is done: it belongs to the parent.
  ~endpoint_handle();
  endpoint_handle(const endpoint_handle&) = delete;
  endpoint_handle& operator=(const endpoint_handle&) = delete;

  /// The endpoint; raises ForkError in a forked child.
  pubsub::endpoint& get() const;
  /// As `get`, for work that goes on in another thread.
  std::shared_ptr<pubsub::endpoint> share() const;
  /// The endpoint, or Closed if `close` was called.
  pubsub::endpoint& open() const;

  /// A publisher for `topic`, from a bounded cache.
  std::shared_ptr<publisher_handle> publisher_for(const std::string& topic);
  std::shared_ptr<publisher_handle> make_publisher(const std::string& topic) const;

  void close(std::chrono::milliseconds timeout);
  bool closed() const noexcept { return *closed_; }
  bool forked() const noexcept { return fork_.crossed(); }

private:
  fork_guard fork_;
  std::shared_ptr<pubsub::endpoint> endpoint_;
  std::shared_ptr<std::atomic<bool>> closed_ = std::make_shared<std::atomic<bool>>(false);
  std::unordered_map<std::string, std::shared_ptr<publisher_handle>>
      publishers_; // guarded by the GIL
};

} // namespace pubsub::python
