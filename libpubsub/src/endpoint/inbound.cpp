#include "endpoint/inbound.hpp"

#include <cstring>

#include "message/message_run.hpp"

namespace pubsub {

inbound::inbound(environment env, const router& routes, std::shared_ptr<tally> counts)
    : env_(std::move(env)), source_(env_.via),
      routes_(routes, {.links = env_.forwarding, .except = env_.via.get()}),
      counts_(std::move(counts)) {}

void inbound::receive(const intrusive_ptr<chunk>& owner, std::span<std::byte> frames) {
  owner_ = &owner;
  frames_size_ = frames.size();
  routes_.refresh();
  auto* pos = frames.data();
  const auto* end = pos + frames.size();
  while (pos != end) {
    const auto size = wire::frame_header_bytes + load_be<std::uint32_t>(pos);
    take_frame(pos, size);
    pos += size;
  }
  end_run();
  owner_ = nullptr;
}

void inbound::take_frame(std::byte* frame, std::size_t size) {
  if (size == wire::frame_header_bytes)
    return; // empty frames mean nothing (broker-wire-v1, 3.2)
  const auto envelope =
      wire::parse_envelope({frame + wire::frame_header_bytes, size - wire::frame_header_bytes});
  // A message that claims to come from us, or from nobody, would be taken for one of our own.
  if (!envelope || envelope->sender == env_.self || envelope->sender.is_nil()) {
    counts_->malformed_frames.add(1);
    return;
  }
  if (envelope->type == wire::envelope_type::data)
    return take_data(frame, size, *envelope);
  if (envelope->type == wire::envelope_type::command)
    return; // data stores are not ours
  end_run();
  env_.on_control(*envelope);
  routes_.refresh();
}

void inbound::take_data(std::byte* frame, std::size_t size, const wire::envelope_view& envelope) {
  counts_->received.add(1);
  env_.via->count_received(1);
  if (!envelope.receiver.is_nil())
    return take_addressed(frame, size, envelope);
  const auto& to = routes_.resolve(envelope.topic);
  if (to.empty())
    return; // more than we announced: nobody here wants it
  bool pass_on = !to.links.empty();
  if (pass_on && envelope.ttl <= 1) {
    counts_->ttl_expired.add(1);
    pass_on = false;
  }
  if (pass_on)
    wire::patch_for_forwarding(frame, env_.self, static_cast<std::uint16_t>(envelope.ttl - 1));
  join_run(to, pass_on, frame, size);
}

/// A message for one endpoint: ours, or a direct peer's (broker-wire-v1, 6.2).
void inbound::take_addressed(std::byte* frame, std::size_t size,
                             const wire::envelope_view& envelope) {
  if (envelope.receiver == env_.self) {
    if (const auto& to = routes_.resolve(envelope.topic); !to.queues.empty())
      join_run(to, false, frame, size);
    return;
  }
  auto target = env_.forwarding ? routes_.link_to(envelope.receiver) : nullptr;
  if (!target || target == env_.via || envelope.ttl <= 1)
    return;
  end_run();
  wire::patch_for_forwarding(frame, env_.self, static_cast<std::uint16_t>(envelope.ttl - 1));
  counts_->forwarded.add(1);
  bounded_queue* const exit = &target->out();
  hand_on({&exit, 1}, message_run::of_frames(owner_->get(), frame, {1, size}));
}

void inbound::join_run(const route& to, bool pass_on, std::byte* frame, std::size_t size) {
  const bool continues =
      run_route_ == &to && run_passes_on_ == pass_on && run_begin_ + run_size_.bytes == frame;
  if (!continues) {
    end_run();
    run_route_ = &to;
    run_passes_on_ = pass_on;
    run_begin_ = frame;
  }
  run_size_.bytes += size;
  ++run_size_.messages;
}

void inbound::end_run() {
  if (run_route_ == nullptr)
    return;
  const auto& to = *run_route_;
  const auto links = run_passes_on_ ? to.to_links() : std::span<bounded_queue* const>{};
  auto run = message_run::of_frames(owner_->get(), run_begin_, run_size_);
  auto for_queues = to.queues.empty() || !worth_copying() ? run : copy_run();
  if (to.queues.size() > 1)
    for_queues->set_shared();
  counts_->forwarded.add(links.size() * run_size_.messages);
  hand_on(links, run);
  hand_on(to.to_queues(), for_queues);
  run_route_ = nullptr;
  run_size_ = {};
}

void inbound::hand_on(std::span<bounded_queue* const> to, const intrusive_ptr<message_run>& run) {
  for (auto* each : to)
    if (each->push_run(run, source_))
      env_.via->expect_resume();
}

/// A few messages out of a large buffer: copied, so that they do not keep all of it alive.
intrusive_ptr<message_run> inbound::copy_run() {
  auto* to = copies_.reserve(run_size_.bytes);
  std::memcpy(to, run_begin_, run_size_.bytes);
  copies_.commit(run_size_.bytes);
  return message_run::of_frames(copies_.current(), to, run_size_);
}

} // namespace pubsub
