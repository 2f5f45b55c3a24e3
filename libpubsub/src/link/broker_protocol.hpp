// A link of version 1: one outbox, a frame for each message, and reading that stops while a queue
// is full.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>

#include <pubsub/value/endpoint_id.hpp>

#include "link/link_protocol.hpp"
#include "message/record.hpp"
#include "wire/broker/envelope.hpp"

namespace pubsub {

/// Frames go out as they lie; each record is copied into a frame of its own, for the one receiver
/// that it may name. Control frames wait behind messages. Before the handshake is over this is how
/// every link writes.
class broker_protocol final : public link_protocol {
public:
  /// `self` is the sender of frames; `via` names the link in the destinations of topics.
  broker_protocol(const endpoint_id& self, const void* via) : self_(self), via_(via) {}

  frame_bounds bounds(std::uint32_t max_frame_bytes) const noexcept override {
    return {.max_bytes = max_frame_bytes};
  }
  bool may_read(const gates& all) const noexcept override { return !all[0].paused(); }
  std::uint64_t pause_count(const gates& all) const noexcept override {
    return all[0].pause_count();
  }
  void give_credit(std::span<credit_gate>, outboxes&, bool) const override {}
  /// The frames of the handshake come first.
  void take(outboxes& from, gathered_write& out) override {
    take_from(from.control(), 0, out);
    if (auto* const messages = from.find(0))
      take_from(*messages, 0, out);
  }
  void grant(std::size_t, std::uint32_t) noexcept override {}

private:
  std::size_t encode_records(const run_slice& slice, gathered_write& out) override {
    auto& buffers = out.buffers;
    const auto* record = slice.run->bytes() + slice.from.bytes;
    const auto* end = record + slice.size.bytes;
    std::size_t total = 0;
    while (record != end) {
      const auto payload_size = record_payload_size(record);
      const auto number = record_topic(record);
      const auto topic = slice.run->topics()->at(number);
      const auto size = wire::data_frame_bytes(topic.size(), payload_size);
      auto* frame = out.memory.reserve(size);
      auto* payload =
          wire::write_data_header(frame, self_, topic, payload_size, slice.run->origin().hops_left,
                                  receiver_of(*slice.run->topics(), number));
      std::memcpy(payload, record + record_header_bytes, payload_size);
      out.memory.commit(size);
      const bool goes_on =
          total > 0 &&
          static_cast<const std::byte*>(buffers.back().data()) + buffers.back().size() == frame;
      if (goes_on)
        buffers.back() = {buffers.back().data(), buffers.back().size() + size};
      else
        buffers.emplace_back(frame, size);
      total += size;
      record += record_header_bytes + payload_size;
    }
    return total;
  }

  /// The peer, if the message is addressed to it; else nil.
  endpoint_id receiver_of(const topic_table& topics, std::size_t number) const noexcept {
    const auto* all = topics.destinations_at(number);
    if (all == nullptr || all->empty())
      return {};
    const auto here = nodes_via(*all, via_);
    return here.empty() ? endpoint_id{} : here.front().node;
  }

  const endpoint_id self_;
  const void* const via_;
};

} // namespace pubsub
