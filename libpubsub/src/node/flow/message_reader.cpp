// SPDX-License-Identifier: BSD-3-Clause
#include "node/flow/message_reader.hpp"

namespace pubsub {

message_reader::message_reader(environment env, router& routes,
                               std::shared_ptr<live_counters> counts)
    : env_(std::move(env)), router_(routes),
      routes_(env_.self, routes, {.links = env_.forwarding, .from = env_.via.get()}),
      counts_(std::move(counts)), runs_(env_.self, env_.via, counts_),
      held_(env_.via, routes.flushes(), env_.call_back),
      rights_(env_.self, env_.remote, env_.via, counts_, env_.call_back) {
  own_reports_.set(flow_tuning::own_items_per_second);
  reports_.set(flow_tuning::reported_items_per_second, flow_tuning::reported_items_per_second);
}

void message_reader::note_report(const endpoint_id& about, std::size_t items) {
  const auto now = env_.via->now();
  const auto own = own_reports_.take(about == env_.remote ? items : 0, now);
  if (const auto wait = std::max(own, reports_.take(items, now)); wait.count() > 0)
    env_.via->pause_reading(wait);
}

/// The messages at hand will take other routes from now on. Those of a Broker peer all wait in the
/// first place.
void message_reader::take_new_routes() {
  runs_.end_run();
  routes_.refresh();
  rights_.refresh();
  screen_.use(router_.screen());
  runs_.forget_topics();
  for (auto& each : routes_.take_retired_routes()) {
    if (each.hops > 0) {
      held_.begin(each.hops - 1, std::move(each));
      continue;
    }
    for (std::size_t hops = 0; hops < wire::max_hops; ++hops)
      if ((runs_.hops_entered() >> hops & 1) != 0)
        held_.begin(0, {each.via, hops, each.nodes});
  }
  held_.call_back_if_active();
}

void message_reader::go_on() {
  rights_.go_on();
  held_.go_on(
      [this] { refresh(); },
      [this](std::size_t place, const held_frame& frame) { return must_wait(place, frame); },
      [this](held_frame& frame) {
        runs_.begin_buffer(frame.owner, frame.bytes.size());
        route_held(frame);
        runs_.end_buffer();
      });
}

void message_reader::end() {
  held_.end();
  message_reader::go_on();
}

held_frame message_reader::make_held(held_frame::kind what, std::span<std::byte> bytes,
                                     stream_name stream,
                                     std::shared_ptr<announced_topics> topics) const {
  auto owner = runs_.owner_of(bytes);
  return {what, std::move(owner), bytes, std::move(topics), stream};
}

// -- frames of version 1 -------------------------------------------------------------------------

void message_reader::take_frame(std::byte* frame, std::size_t size) {
  if (size == frame_header_bytes)
    return; // an empty frame means nothing
  const auto envelope =
      wire::parse_envelope({frame + frame_header_bytes, size - frame_header_bytes});
  // A message that claims to come from us, or from no node, would be taken for one of our own.
  if (!envelope || envelope->sender == env_.self || envelope->sender.is_nil()) {
    counts_->malformed_frames.add(1);
    return;
  }
  if (envelope->type == wire::envelope_type::data)
    return take_message({frame, size}, *envelope);
  runs_.end_run();
  if (envelope->sender == env_.remote) // only a direct peer may say this
    take_control(*envelope);
}

/// Of a node, routing updates and probes change nothing: only Broker peers have filters and
/// circles.
void message_reader::take_control(const wire::envelope_view& envelope) {
  switch (envelope.type) {
  case wire::envelope_type::routing_update:
    if (auto subscriptions = wire::parse_filter(envelope.payload)) {
      note_report(env_.remote,
                  flow_tuning::items_per_prefix_of_broker_peers * subscriptions->size());
      rights_.look_at(*subscriptions);
      return router_.set_filter(env_.remote, std::move(*subscriptions));
    } else if (subscriptions.error() == errc::limit_exceeded)
      return env_.via->close(subscriptions.error());
    return env_.via->close({errc::invalid_message, "the peer sent a malformed routing update"});
  case wire::envelope_type::ping:
    return env_.on_ping(envelope.payload);
  case wire::envelope_type::pong:
    return env_.on_pong(envelope.payload);
  case wire::envelope_type::command: // data stores are not ours
    if (const auto probe = wire::parse_circle_probe(envelope.payload))
      router_.receive_probe(env_.remote, probe->from, probe->over, envelope.topic);
    else if (const auto refusal = wire::parse_refusal(envelope.payload))
      env_.on_refusal(*refusal);
    return;
  case wire::envelope_type::data:
    return;
  }
}

} // namespace pubsub
