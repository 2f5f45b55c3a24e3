// The part of receiving that waits: messages whose way has changed, until those before them have
// arrived.
#include "node/flow/inbound.hpp"

#include <algorithm>
#include <cstring>

#include "wire/native/network.hpp"

namespace pubsub {

namespace {

constexpr std::size_t max_waiting_flush_bytes = 1024 * 1024; // whoever asks will ask again

} // namespace

// -- holding -------------------------------------------------------------------------------------

/// The messages at hand will go another way from now on. Those of a Broker peer all wait in the
/// first place.
void inbound::leave(retired_route path) {
  if (ended_)
    return;
  const auto flush = [&](std::size_t place, retired_route part) {
    holds_[place].flushes.push_back(
        router_.flushes().begin(std::move(part), [call = env_.call_back] { call({}); }));
  };
  if (path.hops > 0)
    return flush(path.hops - 1, std::move(path));
  for (std::size_t hops = 0; hops < wire::max_hops; ++hops)
    if ((entered_ >> hops & 1) != 0)
      flush(0, {path.via, hops, path.nodes});
}

/// What is small is copied, so that it does not keep a large buffer alive. The sender gets no more
/// credit, or is not read from.
void inbound::wait_in(std::size_t place, held_kind kind, std::span<std::byte> bytes,
                      std::shared_ptr<announced_topics> topics) {
  auto& frames = holds_[place].frames;
  if (frames.empty())
    env_.via->gate(place).pause();
  auto owner = *owner_;
  if (bytes.size() * 8 < batch_size_) {
    owner = chunk::make(bytes.size());
    std::memcpy(owner->data(), bytes.data(), bytes.size());
    bytes = {owner->data(), bytes.size()};
  }
  frames.push_back({kind, std::move(owner), bytes, std::move(topics)});
}

void inbound::go_on() {
  for (std::size_t place = 0; place < holds_.size(); ++place) {
    std::erase_if(holds_[place].flushes, [](const auto& flush) { return flush->settled(); });
    release(place);
  }
  call_back_if_held();
}

/// Flushes are sent again, and do not wait for ever.
void inbound::call_back_if_held() {
  if (std::ranges::any_of(holds_, &hold::active))
    env_.call_back(route_flush::repeat_interval);
}

void inbound::end() {
  ended_ = true;
  for (std::size_t place = 0; place < holds_.size(); ++place) {
    holds_[place].flushes.clear();
    release(place);
  }
}

/// In the order in which they came, until their way changes again.
void inbound::release(std::size_t place) {
  auto& [flushes, frames, flush_bytes] = holds_[place];
  if (frames.empty())
    return;
  while (!frames.empty()) {
    refresh();
    if (!flushes.empty())
      return;
    auto frame = std::move(frames.front());
    frames.pop_front();
    route_held(frame);
  }
  flush_bytes = 0;
  env_.via->gate(place).resume();
}

/// What was parsed when it came in is parsed again: it is known to be well-formed.
void inbound::route_held(held_frame& frame) {
  owner_ = &frame.owner;
  batch_size_ = frame.bytes.size();
  switch (frame.kind) {
  case held_kind::message:
    route_data(frame.bytes.data(), frame.bytes.size(),
               *wire::parse_envelope(frame.bytes.subspan(frame_header_bytes)));
    end_run();
    break;
  case held_kind::batch: {
    const auto batch = wire::parse_batch(frame.bytes);
    route_batch(*frame.topics, batch->header, frame.bytes.last(batch->records.size()), false);
    break;
  }
  case held_kind::flush:
    pass_flush(*wire::parse_flush(frame.bytes));
  }
  owner_ = nullptr;
}

// -- flushes -------------------------------------------------------------------------------------

/// A frame that follows messages: it waits where they wait.
bool inbound::take_flush(std::span<std::byte> payload) {
  const auto request = wire::parse_flush(payload);
  if (!request)
    return false;
  refresh();
  auto& held = holds_[request->hops];
  if (!held.active()) {
    pass_flush(*request);
  } else if (held.flush_bytes + payload.size() <= max_waiting_flush_bytes) {
    held.flush_bytes += payload.size();
    wait_in(request->hops, held_kind::flush, payload);
  }
  return true;
}

/// On to the nodes it is for, the way messages go. For us, and for nodes that nothing goes to, we
/// answer.
void inbound::pass_flush(const flush_request& request) {
  const std::size_t hops = request.hops + std::size_t{1};
  std::vector<retired_route> onward;
  flush_answer answer{request.from, request.number, wire::max_hops, {}};
  for (const auto& node : request.to) {
    const bool goes_on = node != env_.self && env_.forwarding && hops < wire::max_hops;
    if (auto via = goes_on ? routes_.link_to(node) : nullptr)
      part_of(onward, via, hops).nodes.push_back(node);
    else
      answer.from.push_back(node);
  }
  for (auto& each : onward)
    if (each.via->out(hops).control_bytes() < max_waiting_flush_bytes)
      each.via->push_behind(hops, wire::make_flush({request.from, request.number,
                                                    static_cast<std::uint8_t>(hops), each.nodes}));
  if (answer.from.empty())
    return;
  if (request.from == env_.remote) // even if we are about to part, and messages go another way
    env_.via->push_control(wire::make_flushed(answer));
  else
    router_.receive(answer);
}

} // namespace pubsub
