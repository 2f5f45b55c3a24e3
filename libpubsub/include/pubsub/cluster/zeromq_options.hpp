// How an endpoint takes part in a Zeek cluster with the ZeroMQ backend.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/cluster/curve_keys.hpp>
#include <pubsub/cluster/topic_names.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>
#include <pubsub/queue_options.hpp>

namespace pubsub::cluster {

/// How events are written. A Zeek node takes only what its own `Cluster::event_serializer` writes;
/// unless a script changes it, that is `broker_bin_v1`. What nodes send is read in either.
enum class event_serializer : std::uint8_t { broker_bin_v1, broker_json_v1 };

struct zeromq_options {
  /// Where the proxy of the cluster takes what nodes publish
  /// (`Cluster::Backend::ZeroMQ::listen_xsub_endpoint`).
  std::string publish_to = "tcp://127.0.0.1:5556";
  /// Where it hands that out (`listen_xpub_endpoint`).
  std::string subscribe_at = "tcp://127.0.0.1:5555";
  /// Where to accept logs, e.g. `tcp://*:27762`: what Zeek nodes have as the address of a logger.
  /// Records are published on `zeek/records/<path>`. Nothing: no logs.
  std::optional<std::string> logs_at;
  /// Where loggers accept logs, e.g. `tcp://192.0.2.1:27762`: Zeek's, or members with `logs_at`.
  /// Records of the network, which are published on `zeek/records/<path>` behind an event
  /// `log_fields` that names their columns, are shared out among those that are reached. What came
  /// from the nodes of this cluster is not sent. As events they do not go to the cluster then.
  std::vector<std::string> logs_to;
  /// The names of logs for Zeek, e.g. `Flows::LOG`, by path; a logger must know them. Those of
  /// Zeek's own scripts are known, and others are made of the path: `Flows::LOG` of `flows`.
  std::map<std::string, std::string> log_streams;
  event_serializer serializer = event_serializer::broker_bin_v1;
  topic_names topics = topic_names::mapped;
  /// Where nothing is set, nothing is encrypted. To accept logs takes the keys of both roles.
  std::optional<curve_keys> curve;
  /// What waits for the proxy. With `block` publishers are held back as long as it is full.
  queue_options outgoing;
  /// What has come from the cluster and waits for the endpoint. A member that does not read makes
  /// the proxy stop for everybody, so the policy must not be `block`.
  queue_options incoming{.policy = overflow_policy::drop_newest};
  /// Records that wait for loggers. Events shall not wait for logs, so the policy must drop.
  queue_options log_queue{.policy = overflow_policy::drop_newest};
  /// How long to wait until messages can be exchanged with the proxy.
  std::chrono::nanoseconds timeout = std::chrono::seconds{10};
  /// The proxy is gone if nothing was heard from its host for so long.
  std::chrono::nanoseconds liveness_timeout = std::chrono::seconds{30};
};

/// Whether all fields are in range. Errors: invalid_argument; the context names the field.
PUBSUB_EXPORT expected<void> check(const zeromq_options& options);

/// The options that an address says: `zeek+zmq://HOST`, with `?` and, separated by `&`,
/// `xpub=PORT` (the proxy's XSUB, to which a node connects its XPUB; 5556), `xsub=PORT` (5555),
/// `logs=PORT` (accept logs there), `log-to=HOST:PORT` (send logs there; repeatable),
/// `stream=PATH:NAME` (the name of a log for Zeek; repeatable), `format=json`,
/// `names=as-they-are`, and `curve=FOLDER` or `curve=environment` (encrypt with those keys).
/// Errors: invalid_argument; those of the keys.
PUBSUB_EXPORT expected<zeromq_options> zeromq_options_from(std::string_view uri);

} // namespace pubsub::cluster
