// A message in a recording.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <pubsub/data.hpp>
#include <pubsub/data_message.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>
#include <pubsub/value/time.hpp>

namespace pubsub::record {

/// The encodings of payloads that this library writes, as MCAP files name them.
inline constexpr std::string_view binary_encoding = "x-pubsub-bin-v1";
inline constexpr std::string_view json_encoding = "json";

/// What `reader::next` returns; text and bytes are valid until the next call, or as long as their
/// owner lives where a program makes one itself.
struct message {
  std::string_view topic;
  std::span<const std::byte> payload; ///< as it was recorded, not checked
  std::string_view encoding = binary_encoding;
  timestamp log_time;
  timestamp publish_time;
  /// The publisher's endpoint, stream and number, where the recorder knew them.
  std::optional<message_origin> origin = {};
  /// The number in the file: that of the origin, or one that the recorder has given.
  std::uint64_t sequence = 0;
};

/// The value in a payload of bin::v1, which must outlive the view. Errors: not_supported (another
/// encoding), and those of `data_view::make`.
PUBSUB_EXPORT expected<data_view> view_of(const message& msg);
/// The value in a payload of bin::v1 or, with the component pubsub::json, JSON as this library
/// writes it. Errors: not_supported (another encoding, or JSON without the component), and those of
/// `decode_binary` and `message_from_json`.
PUBSUB_EXPORT expected<data> value_of(const message& msg);

} // namespace pubsub::record
