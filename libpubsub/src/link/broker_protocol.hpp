// A link of version 1: one outbox, a frame for each message, and reading that stops while a queue
// is full.
#pragma once

#include <pubsub/value/endpoint_id.hpp>

#include "link/link_protocol.hpp"

namespace pubsub {

/// Frames go out as they lie; each record is copied into a frame of its own. Control frames wait
/// behind messages. Before the handshake is over this is how every link writes.
class broker_protocol final : public link_protocol {
public:
  /// `self` is the sender of frames.
  explicit broker_protocol(const endpoint_id& self) : self_(self) {}

  frame_bounds bounds(std::uint32_t max_frame_bytes) const noexcept override {
    return {.max_bytes = max_frame_bytes};
  }
  bool may_read(const gates& all) const noexcept override { return !all[0].paused(); }
  std::uint64_t pause_count(const gates& all) const noexcept override {
    return all[0].pause_count();
  }
  void give_credit(gates&, outboxes&, bool) const override {}
  void take(outboxes& from, std::vector<outgoing_slice>& out, std::size_t max_slices,
            std::size_t max_bytes) override;
  void grant(std::size_t, std::uint32_t) noexcept override {}

private:
  std::size_t encode_records(const run_slice& slice, std::vector<asio::const_buffer>& out) override;

  const endpoint_id self_;
};

} // namespace pubsub
