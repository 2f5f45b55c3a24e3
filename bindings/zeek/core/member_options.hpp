// How a Zeek process takes part in its cluster.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <pubsub/queue_options.hpp>
#include <pubsub/tls_options.hpp>

namespace pubsub::zeek::backend {

/// How batches of log records get to where they are written.
enum class log_transport : std::uint8_t {
  pool,     ///< to one logger after another, the next one where one is full
  pipeline, ///< the same, and what a logger has not acknowledged when it dies goes to another
  records,  ///< to no logger: each record is published, for the subscribers of its log
};

/// What a member is in its cluster: known once the layout of that is.
struct member_place {
  std::vector<std::string> listen;  ///< addresses as `endpoint::listen` takes them
  std::vector<std::string> connect; ///< addresses as `endpoint::peer` takes them
  bool writes_logs = false;         ///< whether it is a logger
};

/// The values given here suit a cluster of today's sizes.
struct member_options {
  std::string name; ///< what status and metrics call the process: the name of its cluster node
  /// Whether messages for others may go over this process. Those that do not are clients: they know
  /// their relays only, and are told of no other nodes.
  bool relay = true;
  tls_options tls;
  /// Events that wait for Zeek's main loop. A full one holds back the links, so what happens then
  /// is up to the link queues of the others.
  queue_options inbound{.policy = overflow_policy::block, .capacity_messages = 10'000};
  /// What waits for each peer. With `block`, publishing waits for room, at most `block_timeout`.
  queue_options link{.policy = overflow_policy::drop_newest};
  std::chrono::nanoseconds block_timeout = std::chrono::seconds{60};
  /// A peer that says nothing for so long is lost.
  std::chrono::nanoseconds liveness_timeout = std::chrono::seconds{10};
  /// Between attempts to connect: this at first, later `max_retry`.
  std::chrono::nanoseconds retry = std::chrono::milliseconds{100};
  std::chrono::nanoseconds max_retry = std::chrono::seconds{1};
  /// How long to wait until a subscription is known, or publishing is possible.
  std::chrono::nanoseconds ready_timeout = std::chrono::seconds{10};
  unsigned io_threads = 1;

  /// Topics with this prefix, a node's id and a slash are those of single nodes.
  std::string nodeid_prefix = "zeek/cluster/nodeid/";

  log_transport logs = log_transport::pool;
  /// Batches that no logger has taken yet wait up to this number of bytes.
  std::size_t log_backlog_bytes = 64 * 1024 * 1024;
  /// `pipeline`: a logger acknowledges a batch so long after it has handed it over. Zeek writes it
  /// meanwhile, in threads that do not say when they have.
  std::chrono::nanoseconds log_ack_delay = std::chrono::seconds{2};
  /// `records`: what topics of logs begin with.
  std::string record_prefix = "zeek/logs/";
};

} // namespace pubsub::zeek::backend
