#include "endpoint/outbound.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "format/bin.hpp"
#include "message/message_access.hpp"
#include "wire/batch.hpp"
#include "wire/envelope.hpp"

namespace pubsub {

/// Fits into a frame of either version.
bool outbound::acceptable(std::string_view topic, std::size_t payload_size) const noexcept {
  const auto overhead = std::max(wire::data_frame_bytes(topic.size(), 0),
                                 wire::batch_header_bytes + record_header_bytes);
  return topic.size() <= topic::max_size_bytes && !is_reserved_topic(topic) &&
         payload_size <= max_frame_bytes_ && overhead + payload_size <= max_frame_bytes_;
}

const route& outbound::resolve(std::string_view topic) {
  if (routes_.refresh())
    seal();
  return routes_.resolve(topic);
}

void outbound::seal() noexcept {
  records_.seal();
  handles_.seal();
}

/// Streams of one endpoint differ; those of its former lives do too, its id being fresh.
std::uint32_t outbound::next_stream() noexcept {
  static std::atomic<std::uint32_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// A publisher of one topic has a table of one; who publishes on many gets larger ones.
std::uint8_t outbound::number_of(std::string_view topic) {
  if (topics_ && topic == last_topic_)
    return last_number_;
  if (const auto found = numbers_.find(topic); found != numbers_.end()) {
    last_number_ = found->second;
  } else {
    if (!topics_ || topics_->full()) {
      numbers_.clear();
      topics_ = topic_table::make(topics_ ? topic_table::max_topics : 1);
    }
    last_number_ = topics_->add(topic);
    numbers_.emplace(topics_->at(last_number_), last_number_);
  }
  last_topic_ = topics_->at(last_number_);
  return last_number_;
}

std::byte* outbound::begin_record(std::string_view topic, std::size_t payload_size) {
  const auto number = number_of(topic);
  record_size_ = record_header_bytes + payload_size;
  return write_record_header(slab_.reserve(record_size_), static_cast<std::uint32_t>(payload_size),
                             number);
}

/// Hands on the record just written. If nobody takes it, its bytes are used again.
push_result outbound::end_record(run_writer::exits to, const deadline& until) {
  const record_source source{.owner = slab_.current(),
                             .first = slab_.reserve(0),
                             .topics = topics_.get(),
                             .origin = {self_, stream_, sequence_, wire::default_ttl}};
  const auto result = records_.push(to, source, record_size_, until);
  if (result != push_result::would_block) {
    slab_.commit(record_size_);
    ++sequence_;
  }
  return result;
}

/// A message that nobody wants.
publish_result outbound::leave() {
  counts_->unwanted.add(1);
  counts_->published.add(1);
  return publish_result::unwanted;
}

publish_result outbound::count(push_result result) {
  if (result == push_result::would_block)
    return publish_result::would_block;
  counts_->published.add(1);
  return result == push_result::dropped ? publish_result::dropped : publish_result::taken;
}

publish_result outbound::publish_encoded(std::string_view topic, std::span<const std::byte> value,
                                         const deadline& until) {
  if (!acceptable(topic, value.size()))
    return refuse();
  const auto& to = resolve(topic);
  if (to.empty())
    return leave();
  if (!std::exchange(records_to_queues_, true))
    seal();
  std::memcpy(begin_record(topic, value.size()), value.data(), value.size());
  return count(end_record(to.to_all(), until));
}

publish_result outbound::publish(std::string_view topic, data value, const deadline& until) {
  const auto size = encoded_size(value);
  if (!acceptable(topic, size))
    return refuse();
  const auto& to = resolve(topic);
  if (to.empty())
    return leave();
  if (to.queues.empty()) { // nobody here wants the value itself
    encode(value, begin_record(topic, size));
    return count(end_record(to.to_links(), until));
  }
  return publish_built(to, topic, message_access::value(topic, std::move(value)), size, until);
}

publish_result outbound::publish(const data_message& msg, const deadline& until) {
  if (!msg)
    return refuse();
  if (repeated_.holds(msg)) // and it was acceptable
    return publish_built(resolve(repeated_.topic()), repeated_.topic(), repeated_.copy(),
                         repeated_.payload_size(), until);
  const auto topic = get_topic(msg);
  const auto* stored = message_access::stored_value(msg);
  const auto size = stored != nullptr
                        ? stored->encoded_size([](const data& x) { return encoded_size(x); })
                        : message_access::payload(msg).size();
  if (!acceptable(topic, size))
    return refuse();
  repeated_.note(msg, size);
  return publish_built(resolve(topic), topic, msg, size, until);
}

/// Queues get the handle, links the encoded form.
publish_result outbound::publish_built(const route& to, std::string_view topic, data_message msg,
                                       std::size_t payload_size, const deadline& until) {
  if (to.empty())
    return leave();
  if (std::exchange(records_to_queues_, false))
    seal();
  const auto size = static_cast<std::uint32_t>(topic.size() + payload_size);
  if (to.links.empty())
    return count(handles_.push(to.to_queues(), msg, size, until));
  // All or none: the queues must have room before the links get the message.
  if (!handles_.goes_on(to.to_queues()) && !run_writer::wait_for_room(to.to_queues(), until))
    return publish_result::would_block;
  const auto payload = message_access::payload(msg);
  std::memcpy(begin_record(topic, payload_size), payload.data(), payload.size());
  const auto sent = end_record(to.to_links(), until);
  if (sent == push_result::would_block || to.queues.empty())
    return count(sent);
  const auto queued = handles_.push(to.to_queues(), msg, size, until, when_full::overshoot);
  return count(sent == push_result::dropped ? sent : queued);
}

} // namespace pubsub
