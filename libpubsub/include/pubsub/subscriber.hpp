// Receives the messages of some topics through a bounded queue.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <pubsub/counters.hpp>
#include <pubsub/data_message.hpp>
#include <pubsub/export.hpp>
#include <pubsub/filter.hpp>
#include <pubsub/queue_options.hpp>
#include <pubsub/readiness.hpp>
#include <pubsub/received.hpp>

namespace pubsub {

class subscriber_core;

/// The consuming end of a bounded queue. Closing it, or destroying it, ends the subscription and
/// announces that to every peer. Thread-safety: one consuming thread at a time; add_topic,
/// remove_topic, close and counters may be called from any thread.
class PUBSUB_EXPORT subscriber {
public:
  subscriber(subscriber&&) noexcept;
  subscriber& operator=(subscriber&&) noexcept;
  ~subscriber();

  /// Takes the next message. Blocks until there is one, or the subscriber or its endpoint is closed
  /// and the queue is drained.
  received<data_message> get();
  /// As `get`, but blocks for at most `timeout`.
  received<data_message> get_for(std::chrono::nanoseconds timeout);
  /// As `get`, but never blocks.
  received<data_message> try_get();
  /// Takes what is there, at least one message and at most `max`. Blocks as `get`.
  received<std::vector<data_message>> get_batch(std::size_t max);
  /// As `get_batch`, but blocks for at most `timeout`.
  received<std::vector<data_message>> get_batch_for(std::size_t max,
                                                    std::chrono::nanoseconds timeout);
  /// As above, appending to `out` so that its memory can be reused.
  [[nodiscard]] receive_status get_batch_for(std::vector<data_message>& out, std::size_t max,
                                             std::chrono::nanoseconds timeout);
  /// As `get_batch`, but never blocks; without `max` it takes everything.
  received<std::vector<data_message>> try_get_batch(std::size_t max = SIZE_MAX);

  /// A file descriptor that is readable while a message is available or the subscriber is closed
  /// (level-triggered); owned by the subscriber. For select, poll, epoll and event loops; do not
  /// read from it.
  int fd() const;
  /// Messages that can be taken without waiting.
  std::size_t available() const;

  /// Effective for messages published after the call returns; peers follow as the update travels.
  void add_topic(std::string_view prefix);
  /// Removes exactly this prefix; others that also match keep matching.
  void remove_topic(std::string_view prefix);
  /// The topics it receives now.
  pubsub::filter filter() const;

  /// Waits until every node within reach knows this subscription, and Broker peers have read
  /// it: what they publish from then on arrives. False at the timeout, or if closed. Any thread.
  [[nodiscard]] bool wait_ready(std::chrono::nanoseconds timeout);
  /// Begins to find out the same, and never blocks: for event loops. Any thread.
  readiness begin_ready();

  /// What became of all messages that matched its topics.
  subscriber_counters counters() const;
  /// True once it, or its endpoint, is closed; what is queued can still be read.
  bool closed() const;
  /// Ends the subscription. Queued messages are discarded and counted. Idempotent.
  void close();

private:
  friend class endpoint;
  explicit subscriber(std::shared_ptr<subscriber_core> core);

  std::shared_ptr<subscriber_core> core_;
};

} // namespace pubsub
