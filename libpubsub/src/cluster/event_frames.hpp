// Messages of a Zeek ZeroMQ cluster: four frames an event, or a batch of logs, one a subscription.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/cluster/zeromq_options.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/error.hpp>

namespace pubsub::cluster {

/// How a cluster names the serializer in the third frame.
std::string_view name_of(event_serializer x) noexcept;

inline constexpr std::size_t frames_of_event = 4;
inline constexpr std::size_t frames_of_logs = 4;
/// What is in the third frame of a batch of logs.
inline constexpr std::string_view log_serializer = "zeek-bin-serializer";

/// An event as it came; refers to its frames.
struct event_frames {
  std::string_view topic;
  std::string_view sender; ///< the id of the node that has sent it
  event_serializer serializer = event_serializer::broker_bin_v1;
  std::string_view payload;
};

/// Tells what the frames are. Does not look into the payload. Errors: invalid_message (another
/// number of frames, a topic with a NUL byte), not_supported (an unknown serializer).
expected<event_frames> split_event(std::span<const std::string_view> frames);

/// The event as encoded bytes that are valid: those of its frame, or `buffer`, which then holds
/// them. Errors: those of `data_view::make` and `from_json`; invalid_message where the value is no
/// event.
expected<std::span<const std::byte>> decode_event(const event_frames& message,
                                                  std::vector<std::byte>& buffer);

/// The payload for a value: its bytes, or `buffer`, which then holds it as JSON; nothing where the
/// value is no event. To be sent behind the topic, the sender and the name of the serializer.
std::optional<std::string_view> encode_event(const data_view& value, event_serializer serializer,
                                             std::string& buffer);

/// That a node of the cluster, this one included, subscribes or unsubscribes.
struct subscription {
  bool added = false;
  std::string_view prefix;
};

/// Nothing where the frame is none.
std::optional<subscription> read_subscription(std::string_view frame) noexcept;

} // namespace pubsub::cluster
