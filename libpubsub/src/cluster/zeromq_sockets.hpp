// The sockets of a member of a ZeroMQ cluster.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <pubsub/cluster/zeromq_options.hpp>

#include "cluster/curve_admission.hpp"
#include "cluster/zeromq_kit.hpp"

#include <zmq.hpp>

namespace pubsub::cluster {

/// Connected to the proxy, and bound for logs where there are to be some. Throws zmq::error_t.
class zeromq_sockets {
public:
  explicit zeromq_sockets(const zeromq_options& options);

  zmq::socket_t& publishing() noexcept { return publishing_; }
  zmq::socket_t& subscribing() noexcept { return subscribing_; }
  socket_monitor& publishing_events() noexcept { return publishing_events_; }
  socket_monitor& subscribing_events() noexcept { return subscribing_events_; }
  /// Null where no logs are accepted.
  zmq::socket_t* logs() noexcept { return logs_ ? &*logs_ : nullptr; }
  /// Whose questions are to be answered; null where no logs are accepted, or nothing is encrypted.
  curve_admission* senders_of_logs() noexcept { return admission_ ? &*admission_ : nullptr; }
  /// Null where logs are not sent.
  zmq::socket_t* loggers() noexcept { return loggers_ ? &*loggers_ : nullptr; }

private:
  zmq::context_t context_;
  zmq::socket_t publishing_;
  zmq::socket_t subscribing_;
  std::optional<curve_admission> admission_;
  std::optional<zmq::socket_t> logs_;
  std::optional<zmq::socket_t> loggers_;
  socket_monitor publishing_events_;
  socket_monitor subscribing_events_;
};

} // namespace pubsub::cluster
