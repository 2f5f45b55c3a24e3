// Which channel of a recording a message belongs to: one for each topic and stream.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <pubsub/data_message.hpp>

#include "record/byte_buffer.hpp"

namespace pubsub::record {

/// The MCAP records of a table's channels; chunks in memory keep those of theirs.
struct channel_records {
  /// Channel n is at n - 1.
  std::vector<byte_buffer> of;
};

/// What the messages of a channel have in common. The number of a message has 64 bits, of which
/// the record of a message holds 32: the others are the channel's.
struct channel_key {
  std::string_view topic;
  std::string_view encoding;
  std::optional<message_origin> origin; ///< of its number the upper half counts
};

class channel_table {
public:
  struct entry {
    std::uint16_t id = 0;
    std::uint32_t next_number = 0; ///< for messages without an origin
  };

  /// MCAP has 65,535 channels.
  explicit channel_table(std::size_t most = 0xffff) : most_(most) {}

  /// The channel of these messages, a new one if need be; null if there can be none more.
  entry* find(const channel_key& key);
  /// Forgets all channels. Their records stay with those that hold them.
  void renew();
  /// The records of all channels since the last renewal; grows with them.
  std::shared_ptr<const channel_records> records() const { return records_; }

private:
  struct name {
    std::string topic;
    std::string encoding;
    std::optional<message_origin> origin;
  };
  struct hash {
    using is_transparent = void;
    template <class Key>
    std::size_t operator()(const Key& x) const noexcept;
  };
  struct equal {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const noexcept;
  };

  std::size_t most_;
  std::unordered_map<name, entry, hash, equal> entries_;
  std::shared_ptr<channel_records> records_ = std::make_shared<channel_records>();
  // Messages come in rows of one channel. Pointers to elements stay valid until they are erased.
  const name* last_name_ = nullptr;
  entry* last_entry_ = nullptr;
};

} // namespace pubsub::record
