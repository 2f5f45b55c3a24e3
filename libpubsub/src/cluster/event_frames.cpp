// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/event_frames.hpp"

#include <pubsub/binary.hpp>
#include <pubsub/format.hpp>
#include <pubsub/zeek/event.hpp>

#include <algorithm>
#include <utility>

namespace pubsub::cluster {

namespace {

constexpr std::array serializers{event_serializer::broker_bin_v1, event_serializer::broker_json_v1};
constexpr std::size_t max_name_bytes = 64; // of an unknown serializer, in an error

} // namespace

std::string_view name_of(event_serializer x) noexcept {
  return x == event_serializer::broker_json_v1 ? "broker-json-v1" : "broker-bin-v1";
}

expected<event_frames> split_event(std::span<const std::string_view> frames) {
  if (frames.size() != frames_of_event)
    return error{errc::invalid_message,
                 "an event has four frames, and not " + std::to_string(frames.size())};
  const auto named = std::ranges::find(serializers, frames[2], name_of);
  if (named == serializers.end())
    return error{errc::not_supported, "an event in an unknown format: " +
                                          std::string{frames[2].substr(0, max_name_bytes)}};
  if (frames[0].find('\0') != std::string_view::npos)
    return error{errc::invalid_message, "a topic with a NUL byte"};
  return event_frames{frames[0], frames[1], *named, frames[3]};
}

expected<std::span<const std::byte>> decode_event(const event_frames& message,
                                                  std::vector<std::byte>& buffer) {
  auto bytes = std::as_bytes(std::span{message.payload});
  if (message.serializer == event_serializer::broker_json_v1) {
    const auto value = from_json(message.payload);
    if (!value)
      return value.error();
    buffer.clear();
    if (auto encoded = encode_binary(*value, buffer); !encoded)
      return encoded.error();
    bytes = buffer;
  }
  const auto view = data_view::make(bytes);
  if (!view)
    return view.error();
  if (zeek::kind_of(*view) != zeek::message_kind::event)
    return error{errc::invalid_message, "a value that is no event"};
  return bytes;
}

std::optional<std::string_view> encode_event(const data_view& value, event_serializer serializer,
                                             std::string& buffer) {
  if (zeek::kind_of(value) != zeek::message_kind::event)
    return {};
  if (serializer == event_serializer::broker_json_v1) {
    buffer = to_json(value);
    return buffer;
  }
  const auto bytes = value.bytes();
  return std::string_view{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::optional<subscription> read_subscription(std::string_view frame) noexcept {
  if (frame.empty() || (frame[0] != '\0' && frame[0] != '\1'))
    return {};
  return subscription{frame[0] == '\1', frame.substr(1)};
}

} // namespace pubsub::cluster
