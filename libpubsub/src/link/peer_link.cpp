// SPDX-License-Identifier: BSD-3-Clause
#include "link/peer_link.hpp"

#include "link/broker_protocol.hpp"
#include "link/native_protocol.hpp"

namespace pubsub {

// Only shared links have producers; one that is being destroyed has none left.
peer_link::peer_link(network_info remote, const queue_options& options,
                     std::uint32_t max_frame_bytes)
    : outboxes(options, {.on_work =
                             [this] {
                               if (auto self = weak_from_this().lock())
                                 self->on_work();
                             },
                         .on_overflow =
                             [this] {
                               if (auto self = weak_from_this().lock())
                                 self->close({errc::limit_exceeded, "the peer did not keep up"});
                             }}),
      protocol_(std::make_unique<broker_protocol>(endpoint_id{}, this)),
      remote_(std::move(remote)) {
  bounds_ = protocol_->bounds(max_frame_bytes);
  for (auto& each : gates_)
    each.on_resume = [this] { on_resume(); };
}

void peer_link::begin_messages(std::uint8_t version, const endpoint_id& self,
                               std::uint32_t max_frame_bytes) {
  if (const auto rule = access(); rule && rule->limits.queued_bytes > 0)
    limit_bytes(rule->limits.queued_bytes);
  std::lock_guard lock{writer_mutex_};
  version_ = version;
  if (version == 1) {
    protocol_ = std::make_unique<broker_protocol>(self, this);
    use_one_for_all();
  } else {
    protocol_ = std::make_unique<native_protocol>(this);
  }
  bounds_ = protocol_->bounds(max_frame_bytes);
}

void peer_link::pause_reading(std::chrono::nanoseconds time, bool or_until_room) {
  const auto until = now() + time;
  if (resting_ && until <= rest_until_)
    return;
  if (!rest_)
    rest_ = make_timer();
  rest_until_ = until;
  rests_until_room_ = or_until_room;
  resting_ = true;
  rest_->start(time, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || !std::exchange(self->resting_, false))
      return;
    self->on_resume();
  });
}

void peer_link::set_access(access_ptr rule) {
  std::lock_guard lock{access_mutex_};
  access_ = std::move(rule);
}

void peer_link::push_answer(std::span<const std::byte> frame) {
  if (control_bytes() > link_tuning::max_unread_answer_bytes)
    close({errc::limit_exceeded, "the peer asks and does not read the answers"});
  else
    push_control(frame);
}

void peer_link::grant(const wire::credit& x) {
  {
    std::lock_guard lock{writer_mutex_};
    protocol_->grant(x.hops, x.bytes);
  }
  on_work();
}

link_counters peer_link::counters() const {
  auto result = outboxes::counters();
  result.received = received_.load(std::memory_order_relaxed);
  result.bytes_received = bytes_received_.load(std::memory_order_relaxed);
  result.bytes_sent = bytes_sent_.load(std::memory_order_relaxed);
  return result;
}

void deliver(const letters& all) {
  for (const auto& [to, frame] : all)
    for (const auto& each : to)
      if (each->control_bytes() > link_tuning::max_unread_news_bytes)
        each->close({errc::limit_exceeded, "the peer does not read news of the network"});
      else
        each->push_control(frame);
}

} // namespace pubsub
