// How frames of version 2 are told apart, written and read (docs/wire-format.md). Pure.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/byte_reader.hpp"
#include "base/byte_writer.hpp"
#include "message/frame.hpp"

namespace pubsub::wire {

/// The highest version this library speaks.
inline constexpr std::uint8_t newest_version = 2;

/// Set in the length of a version-2 frame; version-1 frames are shorter than that.
inline constexpr std::uint32_t batch_flag = 0x8000'0000;

enum class frame_kind : std::uint8_t {
  records = 1,    ///< a batch
  topics = 2,     ///< topics and their destinations, for the batches that follow
  neighbours = 3, ///< the links of a node (wire/native/network.hpp)
  filter = 4,     ///< the subscriptions of a node
  known = 5,      ///< the sender has reported all it knew when the link began
  credit = 6,     ///< the sender can take so many more bytes of records
  question = 7,   ///< whether nodes know the filter of another one (wire/native/network.hpp)
  answer = 8,     ///< to that
  flush = 9,      ///< follows messages on a route that is retired (wire/native/network.hpp)
  flushed = 10,   ///< it has arrived
  interest = 11,  ///< a client asks how many want a topic (wire/native/network.hpp)
  wanted = 12,    ///< its relay tells; the client confirms with the same frame
  entry = 13,     ///< whose client the publisher of the messages of a table is
  served = 14,    ///< by which relay a client is served first (wire/native/network.hpp)
  relays = 15,    ///< over which relays messages of a client may come
  inquiry = 16,   ///< how a node is and what it knows (wire/native/inquiry.hpp)
  reply = 17,     ///< to that
};

/// The kind of a version-2 frame. Nothing if unknown.
inline std::optional<frame_kind> kind_of(std::span<const std::byte> frame_payload) noexcept {
  if (frame_payload.empty())
    return {};
  const auto kind = static_cast<frame_kind>(frame_payload[0]);
  const bool known = kind >= frame_kind::records && kind <= frame_kind::reply;
  return known ? std::optional{kind} : std::nullopt;
}

/// A whole frame, length included.
class frame_writer : public byte_writer {
public:
  explicit frame_writer(frame_kind kind) : byte_writer(frame_header_bytes) {
    add(static_cast<std::uint8_t>(kind));
  }

  std::vector<std::byte> finish() {
    auto frame = take();
    const auto size = static_cast<std::uint32_t>(frame.size() - frame_header_bytes);
    store_be(frame.data(), batch_flag | size);
    return frame;
  }
};

/// A whole frame of these fields, one behind the other.
template <class... Fields>
std::vector<std::byte> make_frame(frame_kind kind, const Fields&... fields) {
  frame_writer out{kind};
  (out.add(fields), ...);
  return out.finish();
}

template <class T>
bool read_field(byte_reader& in, T& out) {
  return in.read(out);
}
inline bool read_field(byte_reader& in, std::vector<endpoint_id>& out) {
  std::uint32_t count = 0;
  std::span<const std::byte> ids;
  if (!in.read_varbyte(count) || !in.read_bytes(std::size_t{count} * endpoint_id_bytes, ids))
    return false;
  for (; !ids.empty(); ids = ids.subspan(endpoint_id_bytes))
    out.push_back(read_id(ids.data()));
  return true;
}

/// The payload of a frame as its kind and exactly these fields.
template <class T, class... Fields>
std::optional<T> read_frame(std::span<const std::byte> frame_payload, Fields T::*... fields) {
  byte_reader in{frame_payload};
  std::uint8_t kind = 0;
  T x;
  if (!in.read(kind) || !(read_field(in, x.*fields) && ...) || !in.at_end())
    return {};
  return x;
}

} // namespace pubsub::wire
