// The records of one stream: numbered, encoded once, one behind the other.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <pubsub/value/endpoint_id.hpp>

#include "base/same_text.hpp"
#include "message/message_run.hpp"
#include "message/record.hpp"
#include "message/slab.hpp"
#include "message/topic_table.hpp"

namespace pubsub {

/// What one publishing thread, or one Broker peer whose designated relay we are, hands to the
/// network. Thread-safety: one thread.
class record_stream {
public:
  enum class publisher : std::uint8_t { here, broker_peer };

  explicit record_stream(const endpoint_id& self, publisher whose = publisher::here)
      : kind_(whose == publisher::here ? 0 : entered_flag) {
    record_.origin = {.endpoint = self, .stream = one_topic_flag | kind_ | next_stream()};
  }

  /// Routes have changed: topics are announced again, with the destinations they have from now on.
  void forget_topics() noexcept {
    topics_ = {};
    numbers_.clear();
  }
  /// Where the payload of the next record goes. If that record is not committed, the next one takes
  /// its place.
  std::byte* begin(std::string_view topic, const std::shared_ptr<const destinations_by_link>& nodes,
                   std::size_t payload_size) {
    if (!topics_ || !same_text(topic, last_.topic) || nodes.get() != last_.nodes)
      choose_number(topic, nodes);
    record_.first = slab_.reserve(record_header_bytes + payload_size);
    record_.owner = slab_.current();
    record_.topics = topics_.get();
    return begin_again(payload_size);
  }
  /// Whether `begin_again` serves for a record with the destinations of the last one.
  bool goes_on(std::string_view topic, std::size_t payload_size) const noexcept {
    return topics_ && same_text(topic, last_.topic) &&
           slab_.has_room(record_header_bytes + payload_size);
  }
  /// As `begin`, with the topic and the destinations of the last record, and right behind it.
  std::byte* begin_again(std::size_t payload_size) noexcept {
    record_size_ = record_header_bytes + payload_size;
    return write_record_header(slab_.reserve_here(), static_cast<std::uint32_t>(payload_size),
                               last_number_);
  }
  /// The record begun; valid until it is committed.
  const record_source& source(std::uint8_t hops_left) noexcept {
    record_.origin.hops_left = hops_left;
    return record_;
  }
  std::size_t size_bytes() const noexcept { return record_size_; }
  void commit() noexcept {
    slab_.commit(record_size_);
    ++record_.origin.first_sequence;
  }

private:
  /// Streams of one endpoint differ; those of its former incarnations do too, its id being fresh.
  static std::uint32_t next_stream() noexcept {
    static std::atomic<std::uint32_t> last{0};
    return (last.fetch_add(1, std::memory_order_relaxed) + 1) & (entered_flag - 1);
  }
  /// A topic, and the destinations that one of its messages has.
  struct topic_use {
    std::string_view topic;                      // in topics_
    const destinations_by_link* nodes = nullptr; // held by topics_
    friend bool operator==(const topic_use&, const topic_use&) = default;
  };
  struct topic_use_hash {
    std::size_t operator()(const topic_use& x) const noexcept {
      return std::hash<std::string_view>{}(x.topic) ^ std::hash<const void*>{}(x.nodes);
    }
  };

  /// A stream of one topic says so in its number; one that gets a second topic, or a message for
  /// one node alone, ends, and another begins.
  void keep_to_one_topic(std::string_view topic, bool addressed) {
    auto& origin = record_.origin;
    if (!has_one_topic(origin.stream) || (only_topic_ == topic && !addressed))
      return;
    if (only_topic_ || addressed)
      origin = {.endpoint = origin.endpoint, .stream = kind_ | next_stream()};
    else
      only_topic_ = topic;
  }
  /// A publisher of one topic has a table of one; a publisher on many gets larger ones.
  void choose_number(std::string_view topic,
                     const std::shared_ptr<const destinations_by_link>& nodes) {
    if (const auto found = numbers_.find({topic, nodes.get()}); found != numbers_.end()) {
      last_number_ = found->second;
    } else {
      keep_to_one_topic(topic, nodes && is_addressed(*nodes));
      if (!topics_ || topics_->full()) {
        numbers_.clear();
        topics_ = topic_table::make(topics_ ? topic_table::max_topics : 1);
      }
      last_number_ = topics_->add(topic, nodes);
      numbers_.emplace(topic_use{topics_->at(last_number_), nodes.get()}, last_number_);
    }
    last_ = {topics_->at(last_number_), nodes.get()};
  }

  const std::uint32_t kind_; // a bit of the numbers of streams
  slab slab_;
  std::size_t record_size_ = 0; // of the record begun
  intrusive_ptr<topic_table> topics_;
  std::unordered_map<topic_use, std::uint8_t, topic_use_hash> numbers_; // of the topics in topics_
  topic_use last_;
  std::uint8_t last_number_ = 0;
  std::optional<std::string> only_topic_; // of the stream so far, if it has one
  record_source record_;                  // the one begun, or the next one's origin
};

} // namespace pubsub
