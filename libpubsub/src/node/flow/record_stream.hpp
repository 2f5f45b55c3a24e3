// The records of one stream: numbered, encoded once, one behind the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <pubsub/value/endpoint_id.hpp>

#include "message/message_run.hpp"
#include "message/record.hpp"
#include "message/slab.hpp"
#include "message/topic_table.hpp"

namespace pubsub {

/// What one publishing thread, or one Broker peer whose designated relay we are, hands to the
/// network.
/// Thread-safety: one thread.
class record_stream {
public:
  explicit record_stream(const endpoint_id& self)
      : origin_{.endpoint = self, .stream = one_topic_flag | next_stream()} {}

  /// Routes have changed: topics are announced again, with the destinations they have from now on.
  void forget_topics() noexcept;
  /// Where the payload of the next record goes. If that record is not committed, the next one takes
  /// its place.
  std::byte* begin(std::string_view topic, const std::shared_ptr<const destinations_by_link>& nodes,
                   std::size_t payload_size) {
    const auto number = topics_ && topic == last_topic_ ? last_number_ : number_of(topic, nodes);
    record_size_ = record_header_bytes + payload_size;
    return write_record_header(slab_.reserve(record_size_),
                               static_cast<std::uint32_t>(payload_size), number);
  }
  /// The record begun.
  record_source source(std::uint8_t hops_left) noexcept {
    origin_.hops_left = hops_left;
    return {.owner = slab_.current(),
            .first = slab_.reserve(0),
            .topics = topics_.get(),
            .origin = origin_};
  }
  std::size_t size_bytes() const noexcept { return record_size_; }
  void commit() noexcept {
    slab_.commit(record_size_);
    ++origin_.first_sequence;
  }

private:
  static std::uint32_t next_stream() noexcept;
  void keep_to_one_topic(std::string_view topic);
  std::uint8_t number_of(std::string_view topic,
                         const std::shared_ptr<const destinations_by_link>& nodes);

  slab slab_;
  std::size_t record_size_ = 0; // of the record begun
  intrusive_ptr<topic_table> topics_;
  std::unordered_map<std::string_view, std::uint8_t> numbers_; // of the topics in topics_
  std::string_view last_topic_;                                // in topics_
  std::uint8_t last_number_ = 0;
  std::optional<std::string> only_topic_; // of the stream so far, if it has one
  run_origin origin_;                     // of the next record
};

} // namespace pubsub
