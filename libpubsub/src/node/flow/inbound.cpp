#include "node/flow/inbound.hpp"

#include <algorithm>
#include <cstring>

#include <pubsub/topic.hpp>

#include "wire/native/status_frame.hpp"

namespace pubsub {

namespace {
constexpr std::size_t max_announced_bytes = 64 * 1024 * 1024;
}

inbound::inbound(environment env, router& routes, std::shared_ptr<live_counters> counts)
    : env_(std::move(env)), router_(routes),
      routes_(env_.self, routes, {.links = env_.forwarding, .except = env_.via.get()}),
      counts_(std::move(counts)), entering_(env_.self) {
  for (std::size_t hops = 0; hops < sources_.size(); ++hops)
    sources_[hops] = env_.via->source(hops);
}

void inbound::receive(const intrusive_ptr<chunk>& owner, std::span<std::byte> frames) {
  owner_ = &owner;
  batch_size_ = frames.size();
  auto* pos = frames.data();
  const auto* end = pos + frames.size();
  while (pos != end) {
    const auto word = load_be<std::uint32_t>(pos);
    const bool flagged = env_.via->version() >= 2 && (word & wire::batch_flag) != 0;
    const auto size = frame_header_bytes + (flagged ? word & ~wire::batch_flag : word);
    if (!flagged) {
      take_frame(pos, size);
    } else if (!take_flagged({pos + frame_header_bytes, size - frame_header_bytes})) {
      env_.on_violation({errc::invalid_message, "the peer sent a malformed batch"});
      break;
    }
    pos += size;
  }
  end_run();
  owner_ = nullptr;
}

/// Before routes are looked up, and not with every piece of news: a new picture costs time in
/// proportion to the network.
void inbound::refresh() {
  if (!routes_.outdated())
    return;
  end_run();
  routes_.refresh();
  entering_.forget_topics();
  for (auto& each : routes_.take_retired_routes())
    leave(std::move(each));
  call_back_if_held();
}

// -- version 1 ---------------------------------------------------------------------------------

void inbound::take_frame(std::byte* frame, std::size_t size) {
  if (size == frame_header_bytes)
    return; // empty frames mean nothing (broker-wire-v1, 3.2)
  const auto envelope =
      wire::parse_envelope({frame + frame_header_bytes, size - frame_header_bytes});
  // A message that claims to come from us, or from nobody, would be taken for one of our own.
  if (!envelope || envelope->sender == env_.self || envelope->sender.is_nil()) {
    counts_->malformed_frames.add(1);
    return;
  }
  if (envelope->type == wire::envelope_type::data)
    return take_data(frame, size, *envelope);
  end_run();
  env_.on_control(*envelope);
}

void inbound::take_data(std::byte* frame, std::size_t size, const wire::envelope_view& envelope) {
  counts_->received.add(1);
  env_.via->count_received(1);
  refresh();
  if (holds_[0].active())
    return wait_in(0, held_kind::message, {frame, size});
  route_data(frame, size, envelope);
}

/// Topic and payload lie behind each other.
bool inbound::is_copy(const wire::envelope_view& envelope) const {
  if (!env_.forwarding || !routes_.has_several_broker_peers())
    return false;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return router_.copies().is_copy(
      {envelope.topic.data(), envelope.topic.size() + envelope.payload.size()}, envelope.ttl,
      static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count()));
}

void inbound::route_data(std::byte* frame, std::size_t size, const wire::envelope_view& envelope) {
  if (!envelope.receiver.is_nil())
    return take_addressed(frame, size, envelope);
  if (env_.via->version() == 1 && routes_.leaves_to_others(env_.remote)) {
    counts_->duplicates.add(1); // another node takes it from this peer
    return;
  }
  if (routes_.is_closed(env_.remote, envelope.topic) || is_copy(envelope)) {
    counts_->duplicates.add(1);
    return;
  }
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

// -- version 2 ---------------------------------------------------------------------------------

bool inbound::take_flagged(std::span<std::byte> payload) {
  end_run();
  if (wire::is_status_frame(payload))
    return env_.on_status_frame(payload);
  const auto kind = wire::kind_of(payload);
  if (!kind)
    return false;
  switch (*kind) {
  case wire::frame_kind::records:
    return take_batch(payload);
  case wire::frame_kind::topics:
    return take_topics(payload);
  case wire::frame_kind::credit:
    return take_credit(payload);
  case wire::frame_kind::flush:
    return take_flush(payload);
  default:
    return env_.on_news(*kind, payload);
  }
}

bool inbound::take_topics(std::span<const std::byte> payload) {
  const auto news = wire::parse_topics(payload);
  if (!news || std::ranges::any_of(news->topics, [](const auto& each) {
        return each.topic.size() > topic::max_size_bytes;
      }))
    return false;
  if (news->table >= tables_.size())
    tables_.resize(news->table + std::size_t{1});
  auto& place = tables_[news->table];
  if (news->first == 0) {
    if (place)
      for (const auto& each : place->topics)
        announced_bytes_ -= each.bytes();
    place = std::make_shared<announced_topics>(); // batches that wait keep the old one
  }
  if (!place || news->first != place->topics.size())
    return false;
  auto& announced = *place;
  for (const auto& each : news->topics) {
    announced_topic fresh{std::string{each.topic}, {}};
    for (auto rest = each.nodes; !rest.empty(); rest = rest.subspan(wire::destination_bytes))
      fresh.destinations.push_back(wire::read_destination(rest.data()));
    announced.for_us =
        announced.for_us || std::ranges::find(fresh.destinations, env_.self, &destination::node) !=
                                fresh.destinations.end();
    announced_bytes_ += fresh.bytes();
    announced.topics.push_back(std::move(fresh));
  }
  return announced_bytes_ <= max_announced_bytes;
}

bool inbound::take_credit(std::span<const std::byte> payload) {
  const auto credit = wire::parse_credit(payload);
  if (credit)
    env_.via->grant(*credit);
  return credit.has_value();
}

bool inbound::take_batch(std::span<std::byte> payload) {
  const auto batch = wire::parse_batch(payload);
  if (!batch || batch->header.table >= tables_.size() || !tables_[batch->header.table])
    return false;
  const auto& announced = tables_[batch->header.table];
  const auto& header = batch->header;
  const auto check = wire::check_records(batch->records, header.messages, announced->topics.size());
  if (check == wire::records_check::malformed)
    return false;
  counts_->received.add(header.messages);
  env_.via->count_received(header.messages);
  refresh();
  const auto hops = wire::hops_come(header.origin.hops_left);
  if (!env_.via->gate(hops).took(batch->records.size())) {
    env_.on_violation({errc::limit_exceeded, "the peer sends more than it has credit for"});
    return true;
  }
  if (holds_[hops].active())
    wait_in(hops, held_kind::batch, payload, announced);
  else
    route_batch(*announced, header, payload.last(batch->records.size()),
                check == wire::records_check::one_topic);
  return true;
}

void inbound::route_batch(announced_topics& announced, const wire::batch_header& header,
                          std::span<std::byte> records, bool one_topic) {
  hops_ = wire::hops_come(header.origin.hops_left);
  if (announced.hops != hops_ + 1 || announced.generation != routes_.generation()) {
    announced.hops = hops_ + 1;
    announced.generation = routes_.generation();
    announced.forget_routes();
  }
  std::unique_lock<std::mutex> turn;
  std::uint32_t late = 0;
  if (header.origin.endpoint == env_.self) {
    late = header.messages; // it has come home: we have it already
  } else if (announced.for_us) {
    auto& mark = mark_of(announced, header.origin);
    turn = std::unique_lock{mark.mutex};
    late = mark.skip(header.origin.first_sequence, header.messages);
  }
  if (one_topic && late == 0)
    take_part(route_of(announced, record_topic(records.data())), announced, header,
              {records.data(), {header.messages, records.size()}, 0});
  else
    take_records(announced, header, records, late);
  end_run();
}

/// Cuts the batch where the route changes; the records have been checked. The first `late` ones are
/// passed on but not delivered here.
void inbound::take_records(announced_topics& announced, const wire::batch_header& header,
                           std::span<std::byte> records, std::uint32_t late) {
  auto* pos = records.data();
  for (std::uint32_t n = 0; n < header.messages; ++n) {
    const auto size = record_bytes(pos);
    take_part(route_of(announced, record_topic(pos)), announced, header,
              {pos, {1, size}, n, n < late});
    pos += size;
  }
}

/// Records that take the same route.
void inbound::take_part(const route& to, const announced_topics& announced,
                        const wire::batch_header& header, const batch_part& part) {
  const bool may_pass = header.origin.hops_left > 1;
  if (&to != run_.to || part.late == run_.deliver) {
    end_run();
    run_ = {.to = &to,
            .deliver = !part.late,
            .pass_on = may_pass && !to.links.empty(),
            .begin = part.begin,
            .size = {},
            .topics = announced.passed_on.get(),
            .origin = header.origin};
    run_.origin.first_sequence += part.first;
    run_.origin.hops_left = static_cast<std::uint8_t>(may_pass ? header.origin.hops_left - 1 : 0);
  }
  if (!may_pass && !to.links.empty())
    counts_->ttl_expired.add(part.size.messages);
  if (part.late && !to.queues.empty())
    counts_->duplicates.add(part.size.messages);
  run_.size.bytes += part.size.bytes;
  run_.size.messages += part.size.messages;
}

const route& inbound::route_of(announced_topics& announced, std::uint8_t topic) {
  if (!announced.passed_on)
    announced.passed_on = topic_table::make(topic_table::max_topics);
  while (announced.routes.size() <= topic) {
    const auto& [text, destinations] = announced.topics[announced.routes.size()];
    const auto& to = routes_.resolve(text, destinations, announced.hops);
    announced.passed_on->add(text, to.nodes);
    announced.routes.push_back(&to);
  }
  return *announced.routes[topic];
}

/// Most tables carry one stream.
stream_mark& inbound::mark_of(announced_topics& announced, const run_origin& origin) {
  if (!announced.mark || announced.origin.endpoint != origin.endpoint ||
      announced.origin.stream != origin.stream) {
    announced.mark = router_.streams().find(origin.endpoint, origin.stream);
    announced.origin = origin;
  }
  return *announced.mark;
}

// -- runs --------------------------------------------------------------------------------------

void inbound::join_run(const route& to, bool pass_on, std::byte* frame, std::size_t size) {
  const bool continues =
      run_.to == &to && run_.pass_on == pass_on && run_.begin + run_.size.bytes == frame;
  if (!continues) {
    end_run();
    run_.to = &to;
    run_.pass_on = pass_on;
    run_.begin = frame;
  }
  run_.size.bytes += size;
  ++run_.size.messages;
}

void inbound::end_run() {
  if (run_.to != nullptr && !run_.to->empty()) {
    const auto& to = *run_.to;
    const auto run = run_at(owner_->get(), run_.begin);
    if (run_.pass_on)
      pass_on(to, run);
    if (run_.deliver) {
      const auto for_queues = to.queues.empty() || !worth_copying() ? run : copy_run();
      if (to.queues.size() > 1)
        for_queues->set_shared();
      hand_on(to.to_queues(), for_queues);
    }
  }
  run_ = {};
}

void inbound::pass_on(const route& to, const intrusive_ptr<message_run>& run) {
  const auto broker_peers = run_.deliver ? to.to_broker_peers() : exit_span{};
  counts_->forwarded.add((broker_peers.size() + to.to_network().size()) * run_.size.messages);
  hand_on(broker_peers, run);
  if (run->has_records())
    hand_on(to.to_network(), run);
  else if (!to.to_network().empty())
    enter_network(to, run_.begin, run_.size);
}

/// Frames of a Broker peer become records of a stream of ours.
void inbound::enter_network(const route& to, const std::byte* frames, run_position size) {
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
void inbound::hand_to_network(const route& to, const intrusive_ptr<message_run>& run) {
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

intrusive_ptr<message_run> inbound::run_at(const chunk* owner, const std::byte* begin) const {
  return message_run::of_records(
      {.owner = owner, .first = begin, .topics = run_.topics, .origin = run_.origin}, run_.size);
}

void inbound::hand_on(exit_span to, const intrusive_ptr<message_run>& run) {
  for (auto* each : to)
    if (each->push_run(run, sources_[hops_]))
      env_.via->gate(hops_).pause();
}

/// A few messages out of a large buffer: copied, so that they do not keep all of it alive.
intrusive_ptr<message_run> inbound::copy_run() {
  auto* to = copies_.reserve(run_.size.bytes);
  std::memcpy(to, run_.begin, run_.size.bytes);
  copies_.commit(run_.size.bytes);
  return run_at(copies_.current(), to);
}

} // namespace pubsub
