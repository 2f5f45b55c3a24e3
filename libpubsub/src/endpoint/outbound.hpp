// Publishing: from a value on the caller's thread to queues and link outboxes.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string_view>

#include <pubsub/data_message.hpp>
#include <pubsub/endpoint_id.hpp>
#include <pubsub/publisher.hpp>

#include "endpoint/dispatcher.hpp"
#include "endpoint/tally.hpp"
#include "message/slab.hpp"

namespace pubsub {

/// One publishing thread's way into the endpoint: routes at hand, and a slab that each message is
/// encoded into at most once whatever the number of links. Thread-safety: one thread.
class outbound {
public:
  /// `until`: how long to wait for full queues with policy `block`; nothing means without limit.
  using patience = std::optional<std::chrono::steady_clock::time_point>;

  outbound(const endpoint_id& self, const router& routes, bool own_messages,
           std::uint32_t max_frame_bytes, std::shared_ptr<tally> counts)
      : self_(self), routes_(routes, {.queues = own_messages}), max_frame_bytes_(max_frame_bytes),
        counts_(std::move(counts)) {}

  publish_result publish(std::string_view topic, data value, patience until = {});
  publish_result publish_encoded(std::string_view topic, std::span<const std::byte> value,
                                 patience until = {});
  publish_result publish(const data_message& msg, patience until = {});
  publish_result refuse() {
    counts_->refused.add(1);
    return publish_result::refused;
  }

private:
  const route* enter(std::string_view topic, std::size_t payload_size, patience until,
                     publish_result& result);
  std::byte* begin_frame(std::string_view topic, std::size_t payload_size);
  publish_result to_links(const route& to, std::size_t frame_size);
  publish_result to_queues(const route& to, data_message msg, std::size_t size_bytes);

  const endpoint_id self_;
  dispatcher routes_;
  const std::uint32_t max_frame_bytes_;
  const std::shared_ptr<tally> counts_;
  slab slab_;
  when_full mode_ = when_full::wait; // of the publish at hand
};

} // namespace pubsub
