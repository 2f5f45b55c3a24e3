// Messages as a link delivers them: slices of a block of bytes.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "message/message_access.hpp"
#include "message/slab.hpp"
#include "support/hex.hpp"

#include <pubsub/format.hpp>

namespace pubsub::test {

/// A slice of `from` holding `topic` and `payload`, not yet validated.
inline data_message slice_of(slab& from, std::string_view topic, const buffer& payload) {
  const auto size = topic.size() + payload.size();
  auto* bytes = from.reserve(size);
  const auto topic_bytes = std::as_bytes(std::span{topic});
  std::copy(payload.begin(), payload.end(),
            std::copy(topic_bytes.begin(), topic_bytes.end(), bytes));
  from.commit(size);
  return message_access::slice(from.take_reference(), bytes,
                               static_cast<std::uint16_t>(topic.size()),
                               static_cast<std::uint32_t>(payload.size()), false);
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
