// Receiving from a Broker peer: frames of version 1, one for each message.
#pragma once

#include "base/bytes.hpp"
#include "node/flow/message_reader.hpp"

namespace pubsub {

class broker_reader final : public message_reader {
public:
  broker_reader(environment env, router& routes, std::shared_ptr<live_counters> counts)
      : message_reader(std::move(env), routes, std::move(counts)) {}

  void receive(const intrusive_ptr<chunk>& owner, std::span<std::byte> frames) override {
    runs_.begin_buffer(owner, frames.size());
    auto* pos = frames.data();
    const auto* const end = pos + frames.size();
    while (pos != end) {
      const auto size = frame_header_bytes + load_be<std::uint32_t>(pos);
      take_frame(pos, size);
      pos += size;
    }
    runs_.end_buffer();
  }

private:
  void route_held(held_frame&) override {} // frames of version 1 are all there is
};

} // namespace pubsub
