// Receives the messages of some topics through a bounded queue.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <pubsub/counters.hpp>
#include <pubsub/data_message.hpp>
#include <pubsub/filter.hpp>
#include <pubsub/queue_options.hpp>

namespace pubsub {

class subscriber_core;

/// The consuming end of a bounded queue. Closing it, or destroying it, ends the subscription and
/// announces that to every peer. Thread-safety: one consuming thread at a time; add_topic,
/// remove_topic, close and counters may be called from any thread.
class subscriber {
public:
  subscriber(subscriber&&) noexcept;
  subscriber& operator=(subscriber&&) noexcept;
  ~subscriber();

  /// Waits for the next message. Returns an empty message once the subscriber or its endpoint is
  /// closed and the queue is drained.
  data_message get();
  /// Waits at most `timeout`. Returns nothing on timeout or when closed and drained.
  std::optional<data_message> get(std::chrono::nanoseconds timeout);
  /// Waits for at least one message, then takes what is there, at most `max`. Empty when closed.
  std::vector<data_message> get_batch(std::size_t max);
  /// As above, waiting at most `timeout`; empty on timeout.
  std::vector<data_message> get_batch(std::size_t max, std::chrono::nanoseconds timeout);
  /// As above, appending to `out` so that its memory can be reused. Returns the number appended.
  std::size_t get_batch(std::vector<data_message>& out, std::size_t max,
                        std::chrono::nanoseconds timeout);
  /// Takes everything that is there. Never blocks.
  std::vector<data_message> poll();

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
  pubsub::filter filter() const;

  /// Waits until every node within reach knows this subscription, and Broker peers have been
  /// told: what they publish from then on arrives. False at the timeout, or if closed. Any thread.
  bool wait_ready(std::chrono::nanoseconds timeout);

  subscriber_counters counters() const;
  bool closed() const;
  /// Ends the subscription. Queued messages are discarded and counted. Idempotent.
  void close();

private:
  friend class endpoint;
  explicit subscriber(std::shared_ptr<subscriber_core> core);

  std::shared_ptr<subscriber_core> core_;
};

} // namespace pubsub
