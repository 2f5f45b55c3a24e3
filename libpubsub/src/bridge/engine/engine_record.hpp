// A record as every engine is given it: a name, a key, a value, and where it comes from.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <pubsub/bridge/engines.hpp>

#include "bridge/engine/record_payload.hpp"
#include "bridge/engine/shared_text.hpp"

namespace pubsub::bridge {

/// What the headers of a record say of the message that it was. Nothing of it is certain: anybody
/// may write headers.
struct provenance {
  shared_text topic;  ///< of the message
  shared_text origin; ///< id of the endpoint, or of the exchange, and the stream there
  std::optional<std::uint64_t> sequence;
  std::uint64_t part = 0; ///< which of the records that one message becomes
  shared_text network;
  std::optional<payload_format> format;
  bool redelivered = false;
  shared_text reason;  ///< of a dead letter
  bool hidden = false; ///< the record has no headers
};

/// A record that is to be written.
struct engine_record {
  shared_text to; ///< topic, subject or stream
  std::string key;
  record_payload payload;
  provenance from;
  std::uint64_t number = 0; ///< by which its writer names it once it is settled
};

/// The name of a format, as commands and headers have it: `zeek-json`.
std::string_view to_string(payload_format x) noexcept;
std::optional<payload_format> parse_format(std::string_view name) noexcept;

/// Calls `add(name, value)`, two string_views, for all headers that the record has.
template <class F>
void for_each_header(const provenance& x, F add) {
  if (x.hidden)
    return;
  if (!x.topic.empty())
    add("pubsub-topic", x.topic.view());
  if (!x.origin.empty())
    add("pubsub-origin", x.origin.view());
  if (x.sequence)
    add("pubsub-sequence", std::string_view{std::to_string(*x.sequence)});
  if (x.part > 0)
    add("pubsub-part", std::string_view{std::to_string(x.part)});
  if (!x.network.empty())
    add("pubsub-network", x.network.view());
  if (x.format)
    add("pubsub-format", to_string(*x.format));
  if (x.redelivered)
    add("pubsub-redelivered", std::string_view{"1"});
  if (!x.reason.empty())
    add("pubsub-reason", x.reason.view());
}

/// Takes one header; others than the above change nothing.
void read_header(provenance& x, std::string_view name, std::string_view value);

} // namespace pubsub::bridge
