// A message that is published again and again: what is known of it, and copies for one count.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/same_text.hpp"
#include "message/message_access.hpp"

namespace pubsub {

/// Readers give back references of a message while its publisher takes new ones: counted one by
/// one, the counter, and the topic beside it, would travel between their processors twice a
/// message. So from the second time on references are taken in advance, and nothing else of the
/// message is touched. It is held until another one is published. Thread-safety: one thread.
class repeated_message {
public:
  repeated_message() = default;
  repeated_message(const repeated_message&) = delete;
  repeated_message& operator=(const repeated_message&) = delete;
  ~repeated_message() { forget(); }

  /// Whether `msg` is the one held, and that its topic.
  bool holds(const data_message& msg, std::string_view topic) const noexcept {
    return references_ > 0 && message_access::stored_value(msg) == storage_ &&
           same_text(topic, topic_);
  }
  std::size_t payload_size() const noexcept { return payload_size_; }

  /// Notes a message that is not held; it will be if it is published again at once.
  void note(const data_message& msg, std::size_t payload_size) {
    const auto* storage = message_access::stored_value(msg);
    const bool again = storage != nullptr && storage == storage_;
    forget();
    storage_ = storage;
    if (!again)
      return;
    topic_ = storage->topic();
    payload_size_ = payload_size;
    take(2);
  }
  /// A copy of the message held.
  data_message copy() {
    if (references_ == 1) // the last one is ours
      take(std::min(2 * taken_, most));
    --references_;
    return message_access::adopt(storage_);
  }

private:
  static constexpr std::uint32_t most = 4096;

  void take(std::uint32_t n) {
    storage_->acquire(n);
    references_ += n;
    taken_ = n;
  }
  void forget() noexcept {
    if (references_ > 0)
      storage_->release(references_);
    references_ = 0;
  }

  const value_storage* storage_ = nullptr; // of the last message, alive only if held
  std::uint32_t references_ = 0;           // taken and not handed out
  std::uint32_t taken_ = 0;                // last
  std::string topic_;
  std::size_t payload_size_ = 0;
};

} // namespace pubsub
