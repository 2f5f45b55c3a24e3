#include "endpoint/outbound.hpp"

#include <cstring>

#include "format/bin.hpp"
#include "message/message_access.hpp"
#include "wire/envelope.hpp"

namespace pubsub {

namespace {

bool wait_for_room(const route& to, std::chrono::steady_clock::time_point until) {
  for (const auto& queue : to.queues)
    if (!queue->wait_for_room(until))
      return false;
  for (const auto& each : to.links)
    if (!each->out().wait_for_room(until))
      return false;
  return true;
}

publish_result worse(publish_result x, publish_result y) {
  return x == publish_result::dropped ? x : y;
}

} // namespace

/// Checks the message and finds its exits; null if it goes nowhere, with `result` saying why.
const route* outbound::enter(std::string_view topic, std::size_t payload_size, patience until,
                             publish_result& result) {
  if (topic.size() > topic::max_size_bytes || is_reserved_topic(topic) ||
      payload_size > max_frame_bytes_ ||
      wire::data_frame_bytes(topic.size(), payload_size) > max_frame_bytes_) {
    result = refuse();
    return nullptr;
  }
  routes_.refresh();
  const auto& to = routes_.resolve(topic);
  mode_ = when_full::wait;
  if (until) {
    if (!wait_for_room(to, *until)) {
      result = publish_result::would_block;
      return nullptr;
    }
    mode_ = when_full::overshoot;
  }
  counts_->published.add(1);
  if (to.empty()) {
    counts_->unwanted.add(1);
    result = publish_result::unwanted;
    return nullptr;
  }
  result = publish_result::taken;
  return &to;
}

std::byte* outbound::begin_frame(std::string_view topic, std::size_t payload_size) {
  auto* frame = slab_.reserve(wire::data_frame_bytes(topic.size(), payload_size));
  return wire::write_data_header(frame, self_, topic, payload_size);
}

publish_result outbound::publish(std::string_view topic, data value, patience until) {
  const auto size = encoded_size(value);
  publish_result result;
  const auto* to = enter(topic, size, until, result);
  if (to == nullptr)
    return result;
  if (!to->links.empty()) {
    encode(value, begin_frame(topic, size));
    result = to_links(*to, wire::data_frame_bytes(topic.size(), size));
  }
  if (!to->queues.empty())
    result = worse(result, to_queues(*to, message_access::value(topic, std::move(value)),
                                     topic.size() + size));
  return result;
}

publish_result outbound::publish_encoded(std::string_view topic, std::span<const std::byte> value,
                                         patience until) {
  publish_result result;
  const auto* to = enter(topic, value.size(), until, result);
  if (to == nullptr)
    return result;
  auto* payload = begin_frame(topic, value.size());
  std::memcpy(payload, value.data(), value.size());
  const auto frame_size = wire::data_frame_bytes(topic.size(), value.size());
  if (to->queues.empty())
    return to_links(*to, frame_size);
  auto msg = message_access::slice(slab_.take_reference(), payload - topic.size(),
                                   static_cast<std::uint16_t>(topic.size()),
                                   static_cast<std::uint32_t>(value.size()), false);
  if (to->queues.size() > 1)
    message_access::share_decoding(msg);
  result = to_links(*to, frame_size);
  return worse(result, to_queues(*to, std::move(msg), topic.size() + value.size()));
}

publish_result outbound::publish(const data_message& msg, patience until) {
  if (!msg)
    return refuse();
  const auto topic = get_topic(msg);
  const auto* stored = message_access::stored_value(msg);
  const auto size =
      stored != nullptr ? encoded_size(stored->value()) : message_access::payload(msg).size();
  publish_result result;
  const auto* to = enter(topic, size, until, result);
  if (to == nullptr)
    return result;
  if (!to->links.empty()) {
    const auto payload = message_access::payload(msg);
    std::memcpy(begin_frame(topic, size), payload.data(), payload.size());
    result = to_links(*to, wire::data_frame_bytes(topic.size(), size));
  }
  if (!to->queues.empty())
    result = worse(result, to_queues(*to, msg, topic.size() + size));
  return result;
}

/// Hands the frame just written to the slab to every link.
publish_result outbound::to_links(const route& to, std::size_t frame_size) {
  auto* frame = slab_.reserve(0);
  auto result = publish_result::taken;
  slab_.commit(frame_size);
  for (const auto& each : to.links)
    if (each->out().push(slab_.current(), frame, frame_size, 1, mode_) == push_result::dropped)
      result = publish_result::dropped;
  return result;
}

publish_result outbound::to_queues(const route& to, data_message msg, std::size_t size_bytes) {
  const auto size = static_cast<std::uint32_t>(size_bytes);
  auto result = publish_result::taken;
  for (std::size_t i = 0; i < to.queues.size(); ++i) {
    const bool last = i + 1 == to.queues.size();
    auto pushed = to.queues[i]->push(last ? std::move(msg) : data_message{msg}, size, mode_);
    if (pushed == push_result::dropped)
      result = publish_result::dropped;
  }
  return result;
}

} // namespace pubsub
