// Any bytes as a message between nodes: nothing, or an envelope that is written as it was read.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/check.hpp"
#include "fuzz/target.hpp"

#include "wire/broker/envelope.hpp"

#include <algorithm>

namespace pubsub::fuzz {

namespace {

using wire::envelope_type;
using frame = std::vector<std::byte>;

frame written(const wire::envelope_view& x) {
  switch (x.type) {
  case envelope_type::ping:
    return wire::make_ping(x.sender, x.receiver, x.payload);
  case envelope_type::pong:
    return wire::make_pong(x.sender, x.receiver, x.payload);
  default:
    break;
  }
  frame out(wire::data_frame_bytes(x.topic.size(), x.payload.size()));
  auto* const end = wire::write_data_header(out.data(), x.sender, x.topic, x.payload.size(), x.ttl);
  std::ranges::copy(x.payload, end);
  return out;
}

void try_input(std::span<const std::byte> bytes) {
  std::optional<wire::envelope_view> x;
  {
    const memory_bound none{0};
    x = wire::parse_envelope(bytes);
  }
  if (!x)
    return;
  check(wire::envelope_header_bytes + x->topic.size() + x->payload.size() == bytes.size(),
        "an envelope is made of its fields");
  auto again = written(*x);
  wire::patch_for_forwarding(again.data(), x->sender, x->ttl);
  const bool control = x->type == envelope_type::ping || x->type == envelope_type::pong;
  if ((control && x->topic == wire::control_topic) ||
      (x->type == envelope_type::data && x->receiver.is_nil()))
    check(std::ranges::equal(std::span{again}.subspan(wire::frame_header_bytes), bytes),
          "an envelope is written as it was read");
  if (const auto probe = wire::parse_circle_probe(x->payload)) {
    const auto sent = wire::make_circle_probe(*probe, x->topic);
    const auto y = wire::parse_envelope(std::span{sent}.subspan(wire::frame_header_bytes));
    check(y && wire::parse_circle_probe(y->payload) == probe, "a probe is read as it was written");
  }
  if (x->type != envelope_type::routing_update)
    return;
  if (const auto announced = wire::parse_filter(x->payload)) {
    const auto update = wire::make_routing_update(x->sender, x->receiver, *announced);
    const auto y = wire::parse_envelope(std::span{update}.subspan(wire::frame_header_bytes));
    check(y && *wire::parse_filter(y->payload) == *announced,
          "an update is read as it was written");
  }
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input(std::as_bytes(std::span{data, size}));
  return 0;
}
