// From an engine to the network: records that were kept become messages or tasks.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/bridge/counters.hpp>
#include <pubsub/bridge/engines.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>
#include <pubsub/value/time.hpp>

namespace pubsub::bridge {

class source_worker;

/// Where a source begins to read.
struct start_position {
  enum class kind : std::uint8_t {
    stored,    ///< behind what its group has confirmed; for a new group, at the beginning
    beginning, ///< the oldest record that is kept
    end,       ///< only what comes from now on
    time,      ///< the first record that is not older
    offset,    ///< a number that the engine has given: offset, sequence number; of Redis, the id
  };
  kind at = kind::stored;
  timestamp time{};
  std::string offset;
};

/// `stored`, `beginning`, `end`, `time:2026-11-28T01:00:00Z`, `time:1764291600` (seconds) or
/// `offset:N`. Errors: invalid_argument.
PUBSUB_EXPORT expected<start_position> parse_start(std::string_view text);

/// What a source reads, and what becomes of it.
struct source_options {
  /// Topics of Kafka (`^` begins a regular expression), subjects of the stream (empty: all), or
  /// streams of Redis, or one list there.
  std::vector<std::string> from;
  /// The group that shares the records, and of which the engine keeps how far it has come: of
  /// JetStream, the durable consumer. Empty: all records, and nothing is kept.
  std::string group;
  start_position start;
  /// The topic to publish on: `{topic}` is the name that the record is kept under, `{key}` its key;
  /// `{origin-topic}` the topic that a sink took it from, or `{topic}` where none did.
  std::string publish = "{origin-topic}";
  /// Instead of publishing: the name of an exchange by which each record becomes a task.
  std::string pipeline;
  /// How values are read. None: as the header `pubsub-format` says, and as plain JSON without one.
  std::optional<payload_format> format;
  /// At most so many records a second; 0: as fast as they are taken.
  double rate = 0;
  /// Ends once it has passed on what there was when it had reached the end.
  bool until_end = false;
  /// Also what a sink of the same network has written: to play it again.
  bool returned = false;
  std::string network = "pubsub";
  /// A topic on which what cannot be read is published: `[reason, name, key, payload]`; empty:
  /// nowhere.
  std::string dead_letters;
  /// So often it tells the engine how far it has come; at least 10 ms.
  std::chrono::nanoseconds commit_interval = std::chrono::seconds{1};
  /// How long `close` and the destructor wait for what was read to be taken.
  std::chrono::nanoseconds close_timeout = std::chrono::seconds{5};
};

/// Whether all fields are in range and fit together. Errors: invalid_argument; not_supported (the
/// engine does not do that).
PUBSUB_EXPORT expected<void> check(const source_options& options, const engine& from);

/// Reads records as long as it exists, and passes them on, on a thread of its own. What it has
/// read counts as done for the engine only once every peer has confirmed that it has read it and
/// local subscribers have taken it (`endpoint::drain`), or the workers of the pipeline have
/// acknowledged it: what was not is read again after a restart. Thread-safe. The endpoint may be
/// moved or destroyed before it; then it comes to its end.
class PUBSUB_EXPORT source {
public:
  /// Does not wait for the engine, which may come later. Errors: those of `check`;
  /// invalid_argument, a setting that the engine's library does not know or take; shutting_down.
  static expected<source> open(const endpoint& at, engine from, source_options options);

  source(source&&) noexcept;
  source& operator=(source&&) noexcept;
  /// Closes.
  ~source();

  bridge_counters counters() const;
  /// Waits until it has come to its end (`until_end`, a failure). False at the timeout.
  [[nodiscard]] bool wait_end(std::chrono::nanoseconds timeout);
  bool closed() const;
  /// As of `sink`.
  error failure() const;
  std::string last_problem() const;
  /// Reads no more, waits until what was read is confirmed, for `close_timeout` at most, tells the
  /// engine, and ends. Idempotent.
  void close();

private:
  explicit source(std::shared_ptr<source_worker> worker) noexcept;

  std::shared_ptr<source_worker> worker_;
};

} // namespace pubsub::bridge
