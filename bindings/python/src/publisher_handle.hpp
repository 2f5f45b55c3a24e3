// What a Python Publisher holds: a C++ publisher that several threads may use.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <pubsub/endpoint.hpp>
#include <pubsub/publisher.hpp>

#include "waiting.hpp"

namespace pubsub::python {

/// Members are called with the GIL held. Publishing keeps it, which costs less than passing it on,
/// until a queue is full; then it waits without the GIL, and Ctrl-C ends the wait.
class publisher_handle {
public:
  publisher_handle(std::shared_ptr<pubsub::endpoint> owner,
                   std::shared_ptr<std::atomic<bool>> closed, std::string topic);
  ~publisher_handle();
  publisher_handle(const publisher_handle&) = delete;
  publisher_handle& operator=(const publisher_handle&) = delete;

  const std::string& topic() const noexcept { return topic_; }
  /// Publishes `value` (any Python object that has a counterpart); returns a PublishResult. Waits
  /// for room for at most `timeout` seconds, none means for ever.
  PyObject* publish(PyObject* value, std::optional<double> timeout);
  /// As `publish`, but never waits.
  PyObject* try_publish(PyObject* value);
  /// Publishes every value of `iterable`; returns how many.
  std::size_t publish_batch(const py::iterable& iterable);

  std::size_t subscribers();
  bool wait_for_subscribers(std::size_t n, std::optional<double> timeout);
  publisher_counters counters();

private:
  publish_result try_send(std::span<const std::byte> value);
  publish_result send(std::span<const std::byte> value, std::optional<double> timeout = {});
  publish_result wait_for_room(std::span<const std::byte> value, const deadline& until, bool tried);
  [[noreturn]] void raise_refused(std::size_t size_bytes) const;

  fork_guard fork_;
  std::string topic_;
  std::shared_ptr<pubsub::endpoint> owner_;
  std::shared_ptr<std::atomic<bool>> closed_;
  std::timed_mutex publishing_; // guards publisher_
  std::optional<publisher> publisher_;
  // Attempts of the publisher that were no call's last one. Counted under publishing_.
  std::atomic<std::uint64_t> retries_{0};
};

} // namespace pubsub::python
