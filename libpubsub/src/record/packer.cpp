// SPDX-License-Identifier: BSD-3-Clause
#include "record/packer.hpp"

#include <algorithm>
#include <limits>

#include <pubsub/zeek/event.hpp>

#include "format/json_messages.hpp"

namespace pubsub::record {

namespace {

constexpr std::size_t max_payload_bytes = 0x7fff'ffff;

// When a Zeek event says that it happened on the network; of any other message it is not known.
std::optional<timestamp> network_time(const data_message& msg) {
  const auto value = get_view(msg);
  if (value.type() != data_type::vector)
    return std::nullopt;
  if (zeek::kind_of(value) != zeek::message_kind::event)
    return std::nullopt;
  const auto event = zeek::view_event(value);
  return event ? event->network_time() : std::nullopt;
}

} // namespace

std::uint64_t file_time(timestamp x) noexcept {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(x.time_since_epoch().count(), 0));
}

timestamp time_of_file(std::uint64_t x) noexcept {
  constexpr std::uint64_t latest = std::numeric_limits<std::int64_t>::max();
  return timestamp{timespan{static_cast<std::int64_t>(std::min(x, latest))}};
}

packer::packer(const chunk_options& options)
    : options_(options), chunk_(options.compression_level, options.chunk_bytes) {}

std::span<const std::byte> packer::payload_of(const data_message& msg) {
  if (options_.format == payload_format::binary)
    return get_view(msg).bytes();
  json_.clear();
  append_json_message(json_, get_topic(msg), get_view(msg), json_strings::utf8);
  return std::as_bytes(std::span{json_});
}

expected<packer::outcome> packer::add(const data_message& msg, timestamp log_time) {
  message x;
  x.topic = get_topic(msg);
  x.payload = payload_of(msg);
  x.encoding = options_.format == payload_format::binary ? binary_encoding : json_encoding;
  x.origin = origins_.origin_of(msg);
  x.publish_time = network_time(msg).value_or(log_time);
  return add(x, log_time, numbers::to_count);
}

expected<packer::outcome> packer::add(const message& msg) {
  return add(msg, msg.log_time, numbers::given);
}

expected<packer::outcome> packer::add(const message& msg, timestamp log_time, numbers which) {
  if (msg.payload.size() > max_payload_bytes)
    return error{errc::limit_exceeded, "a message on topic " + std::string{msg.topic} + " has " +
                                           std::to_string(msg.payload.size()) + " bytes"};
  const auto when = std::max(file_time(log_time), last_time_);
  const auto patience = static_cast<std::uint64_t>(options_.chunk_time.count());
  if (!chunk_.empty() && when - chunk_.first_time() >= patience)
    return outcome::seal_first;
  const channel_key key{msg.topic, msg.encoding, msg.origin};
  auto* channel = channels_.find(key);
  if (channel == nullptr) {
    if (!chunk_.empty()) // the channels of its messages are still needed
      return outcome::seal_first;
    channels_.renew();
    channel = channels_.find(key);
  }
  last_time_ = when;
  const auto sequence = [&] {
    if (msg.origin)
      return static_cast<std::uint32_t>(msg.origin->sequence);
    return which == numbers::given ? static_cast<std::uint32_t>(msg.sequence)
                                   : channel->next_number++;
  }();
  const auto published = msg.publish_time == log_time ? when : file_time(msg.publish_time);
  chunk_.add({channel->id, sequence, when, published}, msg.payload, *channels_.records());
  return outcome::added;
}

} // namespace pubsub::record
