#include "endpoint/outbound.hpp"

#include <cstring>

#include "format/bin.hpp"
#include "message/message_access.hpp"
#include "wire/envelope.hpp"

namespace pubsub {

bool outbound::acceptable(std::string_view topic, std::size_t payload_size) const noexcept {
  return topic.size() <= topic::max_size_bytes && !is_reserved_topic(topic) &&
         payload_size <= max_frame_bytes_ &&
         wire::data_frame_bytes(topic.size(), payload_size) <= max_frame_bytes_;
}

const route& outbound::resolve(std::string_view topic) {
  if (routes_.refresh())
    seal();
  return routes_.resolve(topic);
}

void outbound::seal() noexcept {
  frames_.seal();
  handles_.seal();
}

std::byte* outbound::begin_frame(std::string_view topic, std::size_t payload_size) {
  frame_size_ = wire::data_frame_bytes(topic.size(), payload_size);
  return wire::write_data_header(slab_.reserve(frame_size_), self_, topic, payload_size);
}

/// Hands on the frame just written. If nobody takes it, its bytes are used again.
push_result outbound::end_frame(run_writer::exits to, const deadline& until) {
  const auto* frame = slab_.reserve(0);
  const auto result = frames_.push(to, slab_.current(), frame, frame_size_, until);
  if (result != push_result::would_block)
    slab_.commit(frame_size_);
  return result;
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
  if (to.empty()) {
    counts_->unwanted.add(1);
    counts_->published.add(1);
    return publish_result::unwanted;
  }
  if (!std::exchange(frames_to_queues_, true))
    seal();
  std::memcpy(begin_frame(topic, value.size()), value.data(), value.size());
  return count(end_frame(to.to_all(), until));
}

publish_result outbound::publish(std::string_view topic, data value, const deadline& until) {
  const auto size = encoded_size(value);
  if (!acceptable(topic, size))
    return refuse();
  const auto& to = resolve(topic);
  if (to.queues.empty() && !to.links.empty()) { // nobody here wants the value itself
    encode(value, begin_frame(topic, size));
    return count(end_frame(to.to_links(), until));
  }
  return publish_built(to, message_access::value(topic, std::move(value)), size, until);
}

publish_result outbound::publish(const data_message& msg, const deadline& until) {
  if (!msg)
    return refuse();
  const auto topic = get_topic(msg);
  const auto* stored = message_access::stored_value(msg);
  const auto size =
      stored != nullptr ? encoded_size(stored->value()) : message_access::payload(msg).size();
  if (!acceptable(topic, size))
    return refuse();
  return publish_built(resolve(topic), msg, size, until);
}

/// Queues get the handle, links the encoded form.
publish_result outbound::publish_built(const route& to, data_message msg, std::size_t payload_size,
                                       const deadline& until) {
  if (to.empty()) {
    counts_->unwanted.add(1);
    counts_->published.add(1);
    return publish_result::unwanted;
  }
  if (std::exchange(frames_to_queues_, false))
    seal();
  const auto size = static_cast<std::uint32_t>(get_topic(msg).size() + payload_size);
  if (to.links.empty())
    return count(handles_.push(to.to_queues(), msg, size, until));
  // All or none: the queues must have room before the links get the message.
  if (!handles_.goes_on(to.to_queues()) && !run_writer::wait_for_room(to.to_queues(), until))
    return publish_result::would_block;
  const auto payload = message_access::payload(msg);
  std::memcpy(begin_frame(get_topic(msg), payload_size), payload.data(), payload.size());
  const auto sent = end_frame(to.to_links(), until);
  if (sent == push_result::would_block || to.queues.empty())
    return count(sent);
  const auto queued = handles_.push(to.to_queues(), msg, size, until, when_full::overshoot);
  return count(sent == push_result::dropped ? sent : queued);
}

} // namespace pubsub
