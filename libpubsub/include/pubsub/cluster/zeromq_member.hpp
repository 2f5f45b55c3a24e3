// An endpoint as a member of a Zeek cluster with the ZeroMQ backend: the component pubsub::cluster.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <pubsub/cluster/member_counters.hpp>
#include <pubsub/cluster/zeromq_options.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>
#include <pubsub/gateway.hpp>

namespace pubsub::cluster {

class zeromq_membership;

/// Messages for the cluster are those on topics that its nodes subscribe to.
struct zeromq_counters : member_counters {
  /// Events that came back, or that another member in the same network has sent.
  std::uint64_t own = 0;

  std::uint64_t log_batches = 0; ///< of which records were published
  std::uint64_t log_records = 0; ///< in those

  // Of each record of the network, where logs are sent (`logs_to`):
  std::uint64_t log_records_sent = 0; ///< handed to libzmq
  std::uint64_t log_batches_sent = 0; ///< in which they were
  /// Its log or columns are unknown yet, or a value is not of the type of its column.
  std::uint64_t log_records_unreadable = 0;
  std::uint64_t log_records_unsent = 0; ///< `log_queue` was full, or the cluster was lost
};

/// Takes part in a cluster as long as it exists, on a thread of its own: the endpoint has the
/// cluster as a peer at `address()`, a socket in a folder that only this user can enter, while it
/// can exchange messages with the cluster's proxy; status events and `peers` tell. Events then go
/// both ways: those that nodes of the cluster subscribe to, as far as they are Zeek events, and
/// those that anybody subscribes to on the side of the endpoint. Never subscribes as a node of the
/// cluster's layout does, so Zeek's scripts do not notice it. A cluster that is lost is looked for
/// again; what is published meanwhile does not reach it, and what nodes publish does not come. Of
/// several members of a cluster in one network one does the work, and another takes over when it
/// is gone: events may then be lost, or come twice, for a tenth of a second.
class PUBSUB_EXPORT zeromq_member {
public:
  /// Returns at once. The endpoint may be moved or destroyed before the member. Errors:
  /// invalid_argument; not_supported (libzmq cannot encrypt); address_in_use or cannot_listen
  /// (`logs_at`, or the folder), shutting_down.
  static expected<zeromq_member> join(const endpoint& ep, zeromq_options options,
                                      gateway_host host = {});

  zeromq_member(zeromq_member&&) noexcept;
  zeromq_member& operator=(zeromq_member&&) noexcept;
  /// Leaves; waits two seconds at most until the proxy has got what came from the endpoint.
  ~zeromq_member();

  /// The address at which the endpoint has the cluster as a peer.
  const std::string& address() const noexcept;
  /// Waits until messages can be exchanged and the endpoint has the cluster as a peer. False at the
  /// timeout; `problem` says what is known of the reason.
  [[nodiscard]] bool wait_connected(std::chrono::nanoseconds timeout) const;
  /// Why the cluster is not reached, in one sentence; empty where it is.
  std::string problem() const;
  zeromq_counters counters() const;
  /// Leaves before the destructor does, and blocks as long; the counters change no more.
  void leave();

private:
  explicit zeromq_member(std::unique_ptr<zeromq_membership> made);

  std::unique_ptr<zeromq_membership> state_;
};

} // namespace pubsub::cluster
