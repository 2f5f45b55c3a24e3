// The proxy in the middle of a Zeek cluster with the ZeroMQ backend.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <pubsub/cluster/curve_keys.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>

namespace pubsub::cluster {

class proxy_thread;

struct zeromq_proxy_options {
  /// Where nodes connect their XPUB sockets, to publish, e.g. `tcp://*:5556`; port 0 picks one
  /// (`Cluster::Backend::ZeroMQ::listen_xsub_endpoint`).
  std::string listen_xsub = "tcp://127.0.0.1:5556";
  /// Where nodes connect their XSUB sockets, to read (`listen_xpub_endpoint`).
  std::string listen_xpub = "tcp://127.0.0.1:5555";
  /// Encrypts, and admits only clients with these keys, or one of `more_clients`.
  std::optional<curve_keys> curve;
  /// Public keys of clients that do not have the key of the others.
  std::vector<std::string> more_clients;
  /// Messages that wait for each reader beyond what its connection holds, from 2 to 1,000,000.
  std::size_t reader_queue_messages = 1'000;
  /// How long all others may be held up by a reader whose queue is full and that takes nothing. It
  /// is slow then: messages are not kept for it until it has taken half of its queue, and patience
  /// with it comes back in the course of 25 times that. Zero: no node is ever held up. At most a
  /// minute.
  std::chrono::milliseconds patience{1'000};
};

/// Whether all fields are in range. Errors: invalid_argument, not_supported (libzmq cannot
/// encrypt); the context names the field.
PUBSUB_EXPORT expected<void> check(const zeromq_proxy_options& options);

/// What a proxy has counted since it began, and what it has now.
struct zeromq_proxy_counters {
  std::uint64_t messages = 0; ///< passed on to all subscribed readers
  std::uint64_t bytes = 0;    ///< in those
  std::uint64_t foreign = 0;  ///< of those, not four frames: Zeek does not read them

  // libzmq does not say what it drops. So a reader that is slow is known by data that its
  // connection has not taken, and what it would have got until it takes them is counted:
  std::uint64_t times_slow = 0; ///< that a reader became slow
  std::uint64_t dropped = 0;    ///< messages that a slow reader did not get, for each such reader
  std::chrono::nanoseconds held_up{}; ///< in which messages waited for room

  std::uint64_t subscription_changes = 0; ///< passed on to all publishers
  std::uint64_t malformed = 0;            ///< came from a reader, and is no subscription
  std::uint64_t refused = 0;              ///< connections without an admitted key

  // Now:
  std::uint64_t publishers = 0;    ///< connections
  std::uint64_t readers = 0;       ///< connections
  std::uint64_t slow_readers = 0;  ///< of those
  std::uint64_t subscriptions = 0; ///< of all readers
};

/// Passes messages of all nodes on to those that are subscribed, and subscriptions of all nodes to
/// all others, on a thread of its own, as long as it exists: what `run_proxy_thread` makes Zeek's
/// manager do. While readers take messages, publishers are held back to the pace of the slowest,
/// and nothing is dropped. Unlike there, a reader that has stopped holds the others up for
/// `patience` only, and loses messages from then on, which are counted. To reach a proxy again
/// after its end is up to the nodes, and they do.
class PUBSUB_EXPORT zeromq_proxy {
public:
  /// Errors: those of `check`; address_in_use, cannot_listen, limit_exceeded.
  static expected<zeromq_proxy> start(zeromq_proxy_options options);

  zeromq_proxy(zeromq_proxy&&) noexcept;
  zeromq_proxy& operator=(zeromq_proxy&&) noexcept;
  /// What waits for readers is lost.
  ~zeromq_proxy();

  /// Where it listens, with the port.
  const std::string& xsub_address() const noexcept;
  const std::string& xpub_address() const noexcept;
  zeromq_proxy_counters counters() const;
  /// Why it has ended by itself; empty as long as it works.
  std::string problem() const;

private:
  explicit zeromq_proxy(std::unique_ptr<proxy_thread> state);

  std::unique_ptr<proxy_thread> state_;
};

} // namespace pubsub::cluster
