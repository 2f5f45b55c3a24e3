// The channels of a file that is read.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include <pubsub/data_message.hpp>
#include <pubsub/error.hpp>
#include <pubsub/filter.hpp>

#include "record/mcap.hpp"

namespace pubsub::record {

struct known_channel {
  std::string topic; ///< as it was published
  std::string encoding;
  std::optional<message_origin> origin; ///< its number is that of the channel's first message or 0
  bool wanted = true;
};

/// Bounded: what an untrusted file may make a reader keep.
class channel_directory {
public:
  explicit channel_directory(filter topics) : topics_(std::move(topics)) {}

  /// Takes a channel record; a later one with the same id takes the place of the first. Errors:
  /// limit_exceeded.
  expected<void> add(const mcap::channel& x);
  /// Null if there is none.
  const known_channel* find(std::uint16_t id) const noexcept;
  const std::unordered_map<std::uint16_t, known_channel>& all() const noexcept { return channels_; }

private:
  filter topics_;
  std::unordered_map<std::uint16_t, known_channel> channels_;
  std::size_t bytes_ = 0;
};

} // namespace pubsub::record
