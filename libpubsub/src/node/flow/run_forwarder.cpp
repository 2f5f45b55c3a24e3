// SPDX-License-Identifier: BSD-3-Clause
#include "node/flow/run_forwarder.hpp"

#include <algorithm>
#include <cstring>

#include "base/probe.hpp"
#include "link/written_together.hpp"
#include "message/frame.hpp"
#include "wire/broker/envelope.hpp"

namespace pubsub {

run_forwarder::run_forwarder(const endpoint_id& self, std::shared_ptr<peer_link> via,
                             std::shared_ptr<live_counters> counts)
    : via_(std::move(via)), counts_(std::move(counts)),
      entering_(self, record_stream::publisher::broker_peer) {
  for (std::size_t hops = 0; hops < sources_.size(); ++hops)
    sources_[hops] = via_->source(hops);
}

intrusive_ptr<chunk> run_forwarder::owner_of(std::span<std::byte>& bytes) const {
  if (!is_small(bytes.size()))
    return *owner_;
  auto copy = chunk::make(bytes.size());
  std::memcpy(copy->data(), bytes.data(), bytes.size());
  bytes = {copy->data(), bytes.size()};
  return copy;
}

void run_forwarder::end_run() {
  if (run_.to != nullptr && !run_.to->empty()) {
    const auto& to = *run_.to;
    const auto run = run_at(owner_->get(), run_.begin);
    if (run_.pass_on)
      pass_on(to, run);
    if (run_.deliver) {
      const auto for_queues = to.queues.empty() || !is_small(run_.size.bytes) ? run : copy_run();
      if (to.queues.size() > 1)
        for_queues->set_shared();
      hand_on(to.to_queues(), for_queues);
    }
  }
  run_ = {};
}

void run_forwarder::pass_on(const route& to, const intrusive_ptr<message_run>& run) {
  const auto broker_peers = run_.deliver ? to.to_broker_peers() : exit_span{};
  const auto links = broker_peers.size() + to.to_network().size();
  counts_->forwarded.add(links * run_.size.messages);
  PUBSUB_PROBE_IF_TRACED(hop, run->topic_at({}), run_.size.messages, run_.size.bytes, links);
  hand_on(broker_peers, run);
  if (run->has_records())
    hand_on(to.to_network(), run);
  else if (!to.to_network().empty())
    enter_network(to, run_.begin, run_.size);
}

/// Frames of a Broker peer become records of a stream of ours.
void run_forwarder::enter_network(const route& to, const std::byte* frames, run_position size) {
  intrusive_ptr<message_run> run;
  for (; size.messages > 0; --size.messages) {
    const frame_content content{frames};
    const auto* const payload = frames + frame_bytes(frames) - content.payload_size;
    const std::string_view topic{reinterpret_cast<const char*>(payload) - content.topic_size,
                                 content.topic_size};
    std::memcpy(entering_.begin(topic, to.nodes, content.payload_size), payload,
                content.payload_size);
    const auto here = entering_.source(
        static_cast<std::uint8_t>(std::min<std::size_t>(frame_hops_left(frames), wire::max_hops)));
    const bool continues = run && run->continues_with(here) && !run->full() &&
                           run->origin().hops_left == here.origin.hops_left;
    if (!continues) {
      hand_to_network(to, run);
      run = message_run::of_records(here);
    }
    run->append(entering_.size_bytes());
    entering_.commit();
    frames += frame_bytes(frames);
  }
  hand_to_network(to, run);
}

/// Nothing more is appended to the run, if there is one. Its hops say which outbox it goes to.
void run_forwarder::hand_to_network(const route& to, const intrusive_ptr<message_run>& run) {
  if (!run)
    return;
  run->close();
  const auto hops = wire::hops_come(run->origin().hops_left);
  entered_ = static_cast<std::uint16_t>(entered_ | 1U << hops);
  for (auto each = to.broker_peers; each < to.links.size(); ++each) {
    bounded_queue* const exit = &to.links[each]->out(hops);
    hand_on({&exit, 1}, run);
  }
}

intrusive_ptr<message_run> run_forwarder::run_at(const chunk* owner, const std::byte* begin) const {
  return message_run::of_records(
      {.owner = owner, .first = begin, .topics = run_.topics, .origin = run_.origin}, run_.size);
}

void run_forwarder::hand_on(exit_span to, const intrusive_ptr<message_run>& run) {
  written_together::unless_few(to.size(), [&] {
    for (auto* each : to)
      if (each->push_run(run, sources_[hops_]))
        via_->gate(hops_).pause();
  });
}

/// A few messages out of a large buffer: copied, so that they do not keep all of it alive.
intrusive_ptr<message_run> run_forwarder::copy_run() {
  auto* to = copies_.reserve(run_.size.bytes);
  std::memcpy(to, run_.begin, run_.size.bytes);
  copies_.commit(run_.size.bytes);
  return run_at(copies_.current(), to);
}

} // namespace pubsub
