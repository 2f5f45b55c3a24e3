// The topics of a stream of records, each written once and then named by a number.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "message/message_storage.hpp"

#include "base/held_bytes.hpp"
#include "base/intrusive_ptr.hpp"
#include "message/destinations.hpp"

namespace pubsub {

/// Topics and the destinations of their messages. Append-only: one thread adds, any thread reads
/// the entries below a size that it has read or received.
class topic_table final : public message_storage {
public:
  static constexpr std::size_t max_topics = 256; // a number fits in a byte

  /// `held`: what counts the bytes of the table, if it is held on behalf of a peer.
  static intrusive_ptr<topic_table> make(std::size_t capacity, held_bytes::total held = {}) {
    return intrusive_ptr<topic_table>::adopt(new topic_table(capacity, std::move(held)));
  }

  /// Of which relay the publisher of the messages is a client; nil: of none. Set before the table
  /// is handed on.
  void set_entry_relay(const endpoint_id& id) noexcept { entry_relay_ = id; }
  const endpoint_id& entry_relay() const noexcept { return entry_relay_; }

  std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }
  std::size_t capacity() const noexcept { return capacity_; }
  bool full() const noexcept { return size() == capacity_; }
  std::string_view at(std::size_t number) const noexcept { return entry_at(number).topic; }
  /// Null if the messages are for this endpoint only.
  const destinations_by_link* destinations_at(std::size_t number) const noexcept {
    return entry_at(number).nodes.get();
  }

  /// The adding thread only, while not full. Returns the number of the topic.
  std::uint8_t add(std::string_view topic, std::shared_ptr<const destinations_by_link> nodes = {}) {
    const auto number = size_.load(std::memory_order_relaxed);
    auto& block = blocks_[number / block_entries];
    if (!block)
      block = std::make_unique<entry[]>(std::min(capacity_ - number, block_entries));
    held_.add(sizeof(entry) + topic.size() + (nodes ? bytes_of(*nodes) : 0));
    block[number % block_entries] = {std::string{topic}, std::move(nodes)};
    size_.store(number + 1, std::memory_order_release);
    return static_cast<std::uint8_t>(number);
  }

private:
  struct entry {
    std::string topic;
    std::shared_ptr<const destinations_by_link> nodes;
  };
  static constexpr std::size_t block_entries = 16; // most tables hold few topics

  topic_table(std::size_t capacity, held_bytes::total held)
      : capacity_(capacity), held_(std::move(held)) {}
  void destroy() const noexcept override { delete this; }
  const entry& entry_at(std::size_t number) const noexcept {
    return blocks_[number / block_entries][number % block_entries];
  }

  std::array<std::unique_ptr<entry[]>, max_topics / block_entries> blocks_;
  const std::size_t capacity_;
  std::atomic<std::size_t> size_{0};
  held_bytes held_;
  endpoint_id entry_relay_;
};

} // namespace pubsub
