// The topics of a stream of records, each written once and then named by a number.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <pubsub/message_storage.hpp>

#include "base/intrusive_ptr.hpp"

namespace pubsub {

/// Append-only: one thread adds, any thread reads the topics below a size it has seen or been told.
class topic_table final : public message_storage {
public:
  static constexpr std::size_t max_topics = 256; // a number fits in a byte

  static intrusive_ptr<topic_table> make(std::size_t capacity) {
    return intrusive_ptr<topic_table>::adopt(new topic_table(capacity));
  }

  std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }
  std::size_t capacity() const noexcept { return capacity_; }
  bool full() const noexcept { return size() == capacity_; }
  std::string_view at(std::size_t number) const noexcept { return topics_[number]; }

  /// The adding thread only, while not full. Returns the number of the topic.
  std::uint8_t add(std::string_view topic) {
    const auto number = size_.load(std::memory_order_relaxed);
    topics_[number] = topic;
    size_.store(number + 1, std::memory_order_release);
    return static_cast<std::uint8_t>(number);
  }

private:
  explicit topic_table(std::size_t capacity)
      : topics_(std::make_unique<std::string[]>(capacity)), capacity_(capacity) {}
  void destroy() const noexcept override { delete this; }

  const std::unique_ptr<std::string[]> topics_;
  const std::size_t capacity_;
  std::atomic<std::size_t> size_{0};
};

} // namespace pubsub
