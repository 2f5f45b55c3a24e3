// Receiving from a Broker peer: frames of version 1, one for each message.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/probe.hpp"
#include "node/broker_mesh/circles.hpp"
#include "node/flow/message_reader.hpp"
#include "wire/broker/envelope.hpp"

namespace pubsub {

/// Sends the peer a probe on each topic that could go round, twice a second. Where there are many
/// topics, one part comes after the other.
class broker_reader final : public message_reader {
public:
  using message_reader::message_reader;

  void begin() override {
    rights_.look_at(env_.subscriptions);
    router_.add_broker_peer(env_.remote, env_.via, env_.subscriptions, env_.announced);
    env_.on_ready();
    next_probes_ = env_.via->now() + circles::time_between_probes;
    go_on();
  }
  bool peer_can_be_asked() const noexcept override { return false; }
  std::size_t receive(const intrusive_ptr<chunk>& owner, std::span<std::byte> frames) override {
    runs_.begin_buffer(owner, frames.size());
    auto* pos = frames.data();
    const auto* const end = pos + frames.size();
    while (pos != end && !env_.via->resting()) {
      const auto size = frame_header_bytes + load_be<std::uint32_t>(pos);
      take_frame(pos, size);
      pos += size;
    }
    runs_.end_buffer();
    return static_cast<std::size_t>(pos - frames.data());
  }
  void go_on() override {
    message_reader::go_on();
    const auto now = env_.via->now();
    if (now >= next_probes_) {
      next_probes_ = now + circles::time_between_probes;
      send_probes();
    }
    env_.call_back(std::chrono::ceil<std::chrono::milliseconds>(next_probes_ - now));
  }

private:
  static constexpr std::size_t max_probes_at_once = 256;

  void take_message(std::span<std::byte> frame, const wire::envelope_view& envelope) override {
    counts_->received.add(1);
    env_.via->count_received(1);
    refresh();
    rights_.note_messages(1, frame.size());
    if (held_.active(0) && must_wait(0, envelope))
      held_.add(0, make_held(held_frame::kind::message, frame));
    else
      route(frame, envelope);
  }
  static wire::envelope_view envelope_of(const held_frame& frame) {
    return *wire::parse_envelope(frame.bytes.subspan(frame_header_bytes));
  }
  void route_held(held_frame& frame) override { route(frame.bytes, envelope_of(frame)); }
  bool must_wait(std::size_t place, const held_frame& frame) override {
    return must_wait(place, envelope_of(frame));
  }
  bool must_wait(std::size_t place, const wire::envelope_view& envelope) {
    return held_.must_wait(place, {}, [&](const holding::node_counts& awaited) {
      return resolve(envelope).is_for(awaited);
    });
  }
  const struct route& resolve(const wire::envelope_view& envelope) {
    return envelope.receiver.is_nil()
               ? routes_.resolve(envelope.topic)
               : routes_.resolve_addressed(envelope.topic, envelope.receiver);
  }
  void route(std::span<std::byte> frame, const wire::envelope_view& envelope) {
    const std::string_view content{envelope.topic.data(), // topic and payload lie side by side
                                   envelope.topic.size() + envelope.payload.size()};
    const bool addressed = !envelope.receiver.is_nil();
    if (!addressed &&
        routes_.broker().turns_away(env_.remote, envelope.topic, content, envelope.ttl))
      return counts_->duplicates.add(1);
    if (screen_.concerns(envelope.topic) &&
        !screen_.passes(envelope.topic, frame.last(envelope.payload.size()))) {
      counts_->screened_out.add(1);
      PUBSUB_PROBE_IF_TRACED(drop, envelope.topic, 1, "screened_out");
      return;
    }
    const auto& to = routes_.select(resolve(envelope), envelope.topic, [&] {
      return std::as_bytes(std::span{envelope.payload.data(), envelope.payload.size()});
    });
    if (addressed && to.unreachable > 0) {
      counts_->unreachable.add(to.unreachable);
      PUBSUB_PROBE_IF_TRACED(drop, envelope.topic, to.unreachable, "unreachable");
    }
    if (addressed && to.unwanted_here) {
      counts_->no_subscriber.add(1);
      PUBSUB_PROBE_IF_TRACED(drop, envelope.topic, 1, "no_subscriber");
    }
    counts_->denied.add(to.denied ? 1 : to.left_out.denied);
    counts_->withheld.add(to.left_out.withheld);
    if (to.empty())
      return; // the peer sends more than we have announced
    const bool pass_on = !to.links.empty() && envelope.ttl > 1;
    if (!pass_on && !to.links.empty()) {
      counts_->ttl_expired.add(1);
      PUBSUB_PROBE_IF_TRACED(drop, envelope.topic, 1, "ttl_expired");
    }
    if (pass_on)
      wire::patch_for_forwarding(frame.data(), env_.self,
                                 static_cast<std::uint16_t>(envelope.ttl - 1));
    runs_.join(to, pass_on, frame.data(), frame.size());
  }

  /// What a peer does not read is not added to.
  void send_probes() {
    if (env_.via->control_bytes() > 0)
      return;
    router_.forget_old_circles();
    if (const auto now = router_.version(); std::exchange(topics_version_, now) != now)
      topics_ = router_.topics_to_probe(env_.remote);
    for (auto n = std::min(topics_.size(), max_probes_at_once); n > 0; --n)
      env_.via->push_control(wire::make_circle_probe({env_.self, env_.remote},
                                                     topics_[next_topic_++ % topics_.size()]));
  }

  peer_link::clock::time_point next_probes_;
  std::vector<std::string> topics_; // as of this version of the routes
  std::uint64_t topics_version_ = 0;
  std::size_t next_topic_ = 0;
};

} // namespace pubsub
