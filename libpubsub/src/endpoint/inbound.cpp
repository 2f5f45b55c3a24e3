#include "endpoint/inbound.hpp"

#include <cstring>

#include "message/message_access.hpp"

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
  join_run(to, pass_on, frame, size, envelope);
}

/// A message for one endpoint: ours, or a direct peer's (broker-wire-v1, 6.2).
void inbound::take_addressed(std::byte* frame, std::size_t size,
                             const wire::envelope_view& envelope) {
  if (envelope.receiver == env_.self) {
    if (const auto& to = routes_.resolve(envelope.topic); !to.queues.empty())
      join_run(to, false, frame, size, envelope);
    return;
  }
  auto target = env_.forwarding ? routes_.link_to(envelope.receiver) : nullptr;
  if (!target || target == env_.via || envelope.ttl <= 1)
    return;
  end_run();
  wire::patch_for_forwarding(frame, env_.self, static_cast<std::uint16_t>(envelope.ttl - 1));
  counts_->forwarded.add(1);
  if (target->out().push_from(owner_->get(), frame, size, 1, source_))
    env_.via->expect_resume();
}

void inbound::join_run(const route& to, bool pass_on, std::byte* frame, std::size_t size,
                       const wire::envelope_view& envelope) {
  const bool continues =
      run_route_ == &to && run_passes_on_ == pass_on && run_begin_ + run_size_ == frame;
  if (!continues) {
    end_run();
    run_route_ = &to;
    run_passes_on_ = pass_on;
    run_begin_ = frame;
  }
  run_size_ += size;
  run_.push_back({reinterpret_cast<const std::byte*>(envelope.topic.data()),
                  static_cast<std::uint16_t>(envelope.topic.size()),
                  static_cast<std::uint32_t>(envelope.payload.size())});
}

void inbound::end_run() {
  if (run_route_ == nullptr)
    return;
  if (run_passes_on_)
    run_to_links();
  if (!run_route_->queues.empty())
    run_to_queues();
  run_route_ = nullptr;
  run_size_ = 0;
  run_.clear();
}

void inbound::run_to_links() {
  const auto messages = static_cast<std::uint32_t>(run_.size());
  for (const auto& each : run_route_->links) {
    counts_->forwarded.add(messages);
    if (each->out().push_from(owner_->get(), run_begin_, run_size_, messages, source_))
      env_.via->expect_resume();
  }
}

void inbound::run_to_queues() {
  batch_.clear();
  if (worth_copying())
    slices_of_copy();
  else
    slices_of_buffer();
  const auto& queues = run_route_->queues;
  if (queues.size() > 1)
    for (auto& each : batch_)
      message_access::share_decoding(each.msg);
  for (std::size_t i = 0; i < queues.size(); ++i) {
    const bool last = i + 1 == queues.size();
    auto copy = last ? std::move(batch_) : batch_;
    if (queues[i]->push_batch(copy, source_))
      env_.via->expect_resume();
    if (last)
      batch_ = std::move(copy); // keeps its memory
  }
  batch_.clear();
}

/// The messages stay where they were read. One reference each, added at once.
void inbound::slices_of_buffer() {
  batch_.reserve(run_.size());
  (*owner_)->acquire(static_cast<std::uint32_t>(run_.size()));
  for (const auto& each : run_)
    batch_.push_back({message_access::slice(owner_->get(), each.topic, each.topic_size,
                                            each.payload_size, false),
                      each.topic_size + each.payload_size});
}

/// A few messages out of a large buffer: copied, so that they do not keep all of it alive.
void inbound::slices_of_copy() {
  for (const auto& each : run_) {
    const auto size = each.topic_size + each.payload_size;
    auto* to = copies_.reserve(size);
    std::memcpy(to, each.topic, size); // the payload follows the topic
    copies_.commit(size);
    batch_.push_back({message_access::slice(copies_.take_reference(), to, each.topic_size,
                                            each.payload_size, false),
                      size});
  }
}

} // namespace pubsub
