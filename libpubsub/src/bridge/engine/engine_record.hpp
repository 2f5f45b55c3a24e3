// A record as every engine holds it: a name, a key, a value, and where it comes from.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <pubsub/bridge/engines.hpp>

namespace pubsub::bridge {

/// What the headers of a record say of the message that it was. Nothing of it is certain: anybody
/// may write headers.
struct provenance {
  std::string topic;  ///< of the message
  std::string origin; ///< id of the endpoint, or of the exchange, and the stream there
  std::optional<std::uint64_t> sequence;
  std::string network;
  std::optional<payload_format> format;
  bool redelivered = false;
  std::string reason; ///< of a dead letter
};

struct engine_record {
  std::string to; ///< topic, subject or stream
  std::string key;
  std::string payload;
  provenance from;
};

/// The name of a format, as commands and headers have it: `zeek-json`.
std::string_view to_string(payload_format x) noexcept;
std::optional<payload_format> parse_format(std::string_view name) noexcept;

/// Calls `add(name, value)`, two string_views, for all headers that the record has.
template <class F>
void for_each_header(const provenance& x, F add) {
  if (!x.topic.empty())
    add("pubsub-topic", std::string_view{x.topic});
  if (!x.origin.empty())
    add("pubsub-origin", std::string_view{x.origin});
  if (x.sequence)
    add("pubsub-sequence", std::string_view{std::to_string(*x.sequence)});
  if (!x.network.empty())
    add("pubsub-network", std::string_view{x.network});
  if (x.format)
    add("pubsub-format", to_string(*x.format));
  if (x.redelivered)
    add("pubsub-redelivered", std::string_view{"1"});
  if (!x.reason.empty())
    add("pubsub-reason", std::string_view{x.reason});
}

/// Takes one header; others than the above change nothing.
void read_header(provenance& x, std::string_view name, std::string_view value);

} // namespace pubsub::bridge
