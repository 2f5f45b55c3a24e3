// From the network to an engine: messages or tasks become records that are kept.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <pubsub/bridge/counters.hpp>
#include <pubsub/bridge/engines.hpp>
#include <pubsub/condition.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>
#include <pubsub/filter.hpp>
#include <pubsub/queue_options.hpp>

namespace pubsub::bridge {

class sink_worker;

/// What a sink takes, and as what it is written.
struct sink_options {
  /// Topics, by prefix, of the messages that it takes, and a condition that they fulfil.
  filter topics;
  std::optional<condition> where;
  /// What waits for the engine. With `block` it holds publishers back, so nothing is lost.
  queue_options queue;
  /// Instead of topics: the name of a queue whose tasks it takes, which it binds to exchanges of
  /// the same name. A task is done when the engine has confirmed it, so that one that is not done
  /// when a sink ends, however it does, is done by another.
  std::string pipeline;
  /// Where a record goes: `{topic}` is the topic of the message (of a task, the name of the
  /// pipeline), `{path}` the path of the log that a record is of (`conn`), `{event}` the name of a
  /// Zeek event. Characters that the engine does not allow in names become `.` (for `/`) or `_`.
  std::string to = "{topic}";
  /// Kafka's key, by which it picks the partition: `origin` (the publisher and the topic, which
  /// keeps the order that each subscriber sees), `topic`, `field:NAME` (a column of a record, such
  /// as `uid`), `community_id`, or `none`.
  std::string key = "origin";
  payload_format format = payload_format::zeek_json;
  /// Whether records have headers (of Redis: fields) that say where they come from: `pubsub-topic`,
  /// `pubsub-origin`, `pubsub-sequence` and so on. Without them a source cannot tell what has come
  /// from its own network.
  bool headers = true;
  /// Where what cannot be written goes, as bin::v1 with the header `pubsub-reason`; empty: nowhere.
  /// Without it a task that the engine refuses is rejected, and goes to the dead letters of its
  /// exchange in the end.
  std::string dead_letters;
  /// A name of the network that this endpoint belongs to. Sources of the same name do not bring
  /// back what this sink has written.
  std::string network = "pubsub";
  /// Leaves out what this endpoint has published itself: for one that has sources, too.
  bool except_own = false;
  /// How long `close` and the destructor wait for what was taken.
  std::chrono::nanoseconds close_timeout = std::chrono::seconds{5};
};

/// Whether all fields are in range and fit together. Errors: invalid_argument; not_supported (the
/// engine does not do that).
PUBSUB_EXPORT expected<void> check(const sink_options& options, const engine& to);

/// Takes messages, or tasks, as long as it exists, and hands them to an engine, on a thread of its
/// own. Takes no more than the engine confirms: where that is slow or away, messages wait in the
/// subscriber's queue, whose policy says what then happens, and tasks at their exchange.
/// Thread-safe. The endpoint may be moved or destroyed before it; then it comes to its end.
class PUBSUB_EXPORT sink {
public:
  /// Does not wait for the engine, which may come later. Errors: those of `check`;
  /// invalid_argument, a setting that the engine's library does not know or take; shutting_down.
  static expected<sink> open(const endpoint& at, engine to, sink_options options);

  sink(sink&&) noexcept;
  sink& operator=(sink&&) noexcept;
  /// Closes.
  ~sink();

  /// Waits until every node within reach knows which topics are wanted, or an exchange is bound.
  /// False at the timeout, or if closed.
  [[nodiscard]] bool wait_ready(std::chrono::nanoseconds timeout);
  /// What became of everything that it has taken.
  bridge_counters counters() const;
  /// Waits until everything that was published or sent, and is here, is with the engine. Returns
  /// how many messages are not at the timeout; 0 on success.
  [[nodiscard]] std::size_t drain(std::chrono::nanoseconds timeout);
  /// Whether it has come to its end, by `close` or because of a `failure`.
  bool closed() const;
  /// Why it has come to its end by itself: what the engine has said. `none` if it has not.
  error failure() const;
  /// What the engine's library has complained about last, such as an address that does not answer;
  /// empty if nothing. It goes on trying.
  std::string last_problem() const;
  /// Takes no more, waits until the engine has confirmed what was taken, for `close_timeout` at
  /// most, and ends. Idempotent.
  void close();

private:
  explicit sink(std::shared_ptr<sink_worker> worker) noexcept;

  std::shared_ptr<sink_worker> worker_;
};

} // namespace pubsub::bridge
