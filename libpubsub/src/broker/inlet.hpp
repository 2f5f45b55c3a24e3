// What has come from Broker and waits to be published.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>

#include <pubsub/broker/bridge.hpp>
#include <pubsub/queue_options.hpp>

#include "broker/encoded_batch.hpp"

namespace pubsub::broker {

/// A bounded queue of batches, and the counters of its direction. `add` and `commit` are for the
/// one thread that takes messages from Broker at a time, `next` for the one that publishes them;
/// all others may be called from any thread. Nothing blocks but `next`.
class inlet {
public:
  explicit inlet(const queue_options& options) : options_(options) {}

  /// Converts a message, as `encoded_batch::add`; it is queued by the next `commit`.
  template <class Write>
  void add(std::string_view topic, Write write) {
    ++added_;
    if (!batch_.add(topic, write))
      ++unconvertible_;
  }
  void commit();
  /// Whether Broker is to wait until there is room: the queue is full, and its policy is `block`.
  bool holds_back() const;

  /// Waits for a batch, and swaps it for `done`, of which `what` became since it was taken; what is
  /// left in it counts as closed. False once `close` was called and nothing is left, or `discard`.
  /// `roomy` is set if `holds_back` has ended.
  bool next(encoded_batch& done, const bridge_counters& what, bool& roomy);
  /// No more comes.
  void close();
  /// Drops what waits, too.
  void discard();
  bool discarded() const;
  bridge_counters counters() const;

private:
  bool is_full() const noexcept {
    return messages_ >= options_.capacity_messages || bytes_ >= options_.capacity_bytes;
  }
  void drop_newest();
  void drop_oldest();
  void note_popped(const encoded_batch& from) noexcept;

  const queue_options options_;
  encoded_batch batch_; // being filled
  std::size_t added_ = 0;
  std::size_t unconvertible_ = 0;

  mutable std::mutex mutex_; // guards the following
  std::condition_variable changed_;
  std::deque<encoded_batch> waiting_;
  std::optional<encoded_batch> spare_; // for its memory
  std::size_t messages_ = 0;           // in waiting_
  std::size_t bytes_ = 0;              // of those
  mutable bool held_back_ = false;     // what holds_back said last, if nothing has changed
  bool closed_ = false;
  bool discarded_ = false;
  bridge_counters counts_;
};

} // namespace pubsub::broker
