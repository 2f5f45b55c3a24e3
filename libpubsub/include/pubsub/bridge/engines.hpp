// Engines that keep messages, and how a bridge reaches them: the component pubsub::bridge.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <variant>

#include <pubsub/export.hpp>

namespace pubsub::bridge {

/// Apache Kafka, or what speaks its protocol.
struct kafka {
  /// `host:port`; several are separated by commas.
  std::string brokers = "127.0.0.1:9092";
  /// Any property of librdkafka, by its name there: `compression.type`, `security.protocol`,
  /// `sasl.mechanism`, `linger.ms` ... They take precedence, but for what promises stand on:
  /// `enable.idempotence`, `acks` and `enable.auto.commit`.
  std::map<std::string, std::string> settings;
  /// Of a sink that takes a pipeline: what it writes is written in transactions under this id, so
  /// that readers of committed records see each task once, across restarts. One sink at a time has
  /// an id; a second one ends the first. Empty: without transactions.
  std::string transactional_id;
  /// With transactions: the topic that keeps the last number of every source of tasks. It is made,
  /// compacted and with one partition, where it is missing.
  std::string positions = "pubsub.positions";
};

/// Streams of a NATS server.
struct jetstream {
  /// `nats://host:port` or `tls://host:port`; several are separated by commas.
  std::string url = "nats://127.0.0.1:4222";
  /// The stream. A source reads it; a sink makes sure that it exists, if it is not empty.
  std::string stream;
  /// Of a sink: makes the stream where it is missing; it then takes these subjects.
  std::string subjects;
  /// A file of credentials; empty: none.
  std::string credentials;
  /// For `tls://`: whom to trust, and as whom to appear, as PEM files; empty: the system's
  /// authorities, no certificate.
  std::string ca, certificate, key;
};

/// Whether a name in Redis is that of a stream or of a list, and how the elements of a list get
/// there.
enum class redis_list : std::uint8_t {
  none,  ///< it is a stream
  rpush, ///< a list that is written to at its right end, as Logstash does: the oldest is on the
         ///< left
  lpush, ///< a list that is written to at its left end, as Suricata does with `mode: list`
};

/// Streams or lists of a Redis server.
struct redis {
  /// `redis://[[user]:password@]host:port[/database]` or `unix:///path`.
  std::string url = "redis://127.0.0.1:6379";
  /// Of a sink: a stream keeps about so many entries; 0: all.
  std::uint64_t max_length = 0;
  /// The field of an entry that holds the value. A source takes the only field of an entry where
  /// there is none of this name: Suricata's entries have one, `eve`.
  std::string field = "payload";
  /// Lists, and not streams. An element is the value alone: it has no key and no headers, so a
  /// source does not know what a sink of its own network has written. A source reads one list,
  /// without a group and from the oldest element, and what is done is removed. Needs Redis 5 or
  /// later, which may run scripts (EVAL).
  redis_list list = redis_list::none;
};

/// Where messages go to, or come from.
using engine = std::variant<kafka, jetstream, redis>;

/// How a message's value is written.
enum class payload_format : std::uint8_t {
  zeek_json,  ///< records of logs, as Zeek's JSON writer has them: an object with a member for each
              ///< column that is set. Only records of logs can be written.
  json,       ///< any value, with types: `{"@data-type":...,"data":...}` (json::v1)
  binary,     ///< any value, with types (bin::v1): the fastest, and nothing is lost
  avro,       ///< records of logs, in the single-object encoding of Avro (bridge/avro.hpp). Only
              ///< records can be written, and none are read
  plain_json, ///< of a source: any JSON; objects become tables, and numbers count, integer or real
  string,     ///< of a source: bytes as they are, as a string
};

} // namespace pubsub::bridge
