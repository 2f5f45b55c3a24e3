// Frames of Broker's protocol once peered: the envelope around every message.
// Pure: bytes in, bytes out.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <pubsub/error.hpp>
#include <pubsub/filter.hpp>
#include <pubsub/value/endpoint_id.hpp>

#include "base/byte_reader.hpp"
#include "message/frame.hpp"

namespace pubsub::wire {

using pubsub::envelope_header_bytes;
using pubsub::frame_header_bytes;
inline constexpr std::uint16_t default_ttl = 16;
/// Topic of routing updates, pings and pongs.
inline constexpr std::string_view control_topic = "<$>";

enum class envelope_type : std::uint8_t {
  data = 1,
  command = 2,
  routing_update = 3,
  ping = 4,
  pong = 5
};

/// A parsed envelope; views into the frame.
struct envelope_view {
  endpoint_id sender;
  endpoint_id receiver;
  envelope_type type = envelope_type::data;
  std::uint16_t ttl = 0;
  std::string_view topic;
  std::span<const std::byte> payload;
};

/// Parses the payload of a frame. Nothing if it is too short, of unknown type, or its topic does
/// not fit. The payload of the message itself is not looked at.
std::optional<envelope_view> parse_envelope(std::span<const std::byte> frame_payload) noexcept;

/// Bytes of a whole data frame, length prefix included.
inline std::size_t data_frame_bytes(std::size_t topic_size, std::size_t payload_size) noexcept {
  return frame_header_bytes + envelope_header_bytes + topic_size + payload_size;
}

/// Writes everything of a data frame up to the payload, which the caller puts where the returned
/// pointer is. A nil `receiver` means every subscriber to the topic.
std::byte* write_data_header(std::byte* out, const endpoint_id& sender, std::string_view topic,
                             std::size_t payload_size, std::uint16_t ttl = default_ttl,
                             const endpoint_id& receiver = {}) noexcept;

/// Overwrites sender and hop limit of the frame at `frame` (its length prefix included) before it
/// is passed on.
inline void patch_for_forwarding(std::byte* frame, const endpoint_id& self,
                                 std::uint16_t ttl) noexcept {
  std::memcpy(frame + frame_header_bytes, self.bytes().data(), 16);
  store_be(frame + frame_header_bytes + 33, ttl);
}

/// Whole control frames, length prefix included.
std::vector<std::byte> make_routing_update(const endpoint_id& sender, const endpoint_id& receiver,
                                           const filter& announced);
std::vector<std::byte> make_ping(const endpoint_id& sender, const endpoint_id& receiver,
                                 std::span<const std::byte> payload);
std::vector<std::byte> make_pong(const endpoint_id& sender, const endpoint_id& receiver,
                                 std::span<const std::byte> payload);

/// For the data stores that subscribe to the topic.
std::vector<std::byte> make_command(const endpoint_id& sender, std::string_view topic,
                                    std::span<const std::byte> payload);

/// Says: this node has given this to that Broker peer, so that nodes learn whether messages come
/// back over another one. Written as a message of a data store, the acknowledgement of a number
/// that no store has sent: Brokers pass such messages on as they do data, and show them to no
/// subscriber.
struct circle_probe {
  endpoint_id from; ///< the node
  endpoint_id over; ///< the peer
  friend bool operator==(const circle_probe&, const circle_probe&) = default;
};

/// A whole frame, for all subscribers to `topic`.
std::vector<std::byte> make_circle_probe(const circle_probe& x, std::string_view topic);
/// Parses the payload of a command. Nothing if it is none of ours.
std::optional<circle_probe> parse_circle_probe(std::span<const std::byte> payload) noexcept;

/// Tells a peer what it may not do. A whole frame; the parser takes the payload of a command, and
/// returns nothing if it is another, else printable ASCII.
std::vector<std::byte> make_refusal(const endpoint_id& sender, std::string_view what);
std::optional<std::string> parse_refusal(std::span<const std::byte> payload);

/// Topic prefixes that a peer may announce at once.
inline constexpr std::uint32_t max_prefixes = 65'536;
/// A varbyte count and strings, as `byte_writer` writes a filter. Errors: `invalid_message` if it
/// is malformed or count and strings do not agree, `limit_exceeded`.
expected<filter> parse_filter(std::span<const std::byte> bytes);
/// The same of what comes next; what follows it may mean something else.
expected<filter> read_filter(byte_reader& in);

/// Wraps a frame payload: `u32 length` and the bytes.
std::vector<std::byte> make_frame(std::span<const std::byte> payload);

} // namespace pubsub::wire
