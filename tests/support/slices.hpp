// Messages as a link delivers them: slices of a block of bytes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "message/frame.hpp"
#include "message/message_access.hpp"
#include "message/message_run.hpp"
#include "message/slab.hpp"
#include "support/hex.hpp"

#include <pubsub/binary.hpp>

namespace pubsub::test {

/// A finished run of one frame in `from` that holds `topic` and `payload`.
inline intrusive_ptr<message_run> run_of(slab& from, std::string_view topic,
                                         const buffer& payload) {
  const auto size = frame_header_bytes + envelope_header_bytes + topic.size() + payload.size();
  auto* frame = from.reserve(size);
  store_be(frame, static_cast<std::uint32_t>(size - frame_header_bytes));
  auto* pos = frame + frame_header_bytes + envelope_header_bytes;
  store_be(pos - 2, static_cast<std::uint16_t>(topic.size()));
  const auto topic_bytes = std::as_bytes(std::span{topic});
  std::copy(payload.begin(), payload.end(), std::copy(topic_bytes.begin(), topic_bytes.end(), pos));
  from.commit(size);
  return message_run::of_frames(from.current(), frame, {1, size});
}

/// A slice of `from` holding `topic` and `payload`, not yet validated.
inline data_message slice_of(slab& from, std::string_view topic, const buffer& payload) {
  std::vector<data_message> out;
  run_of(from, topic, payload)->read({}, 1, out);
  return std::move(out.front());
}

inline buffer encoded(const data& value) {
  return *encode_binary(value);
}

inline data_message slice_of(slab& from, std::string_view topic, const data& value) {
  return slice_of(from, topic, encoded(value));
}

/// A received message with a block of its own.
inline data_message received(std::string_view topic, const data& value) {
  slab block;
  auto msg = slice_of(block, topic, value);
  message_access::check(msg);
  return msg;
}

} // namespace pubsub::test
