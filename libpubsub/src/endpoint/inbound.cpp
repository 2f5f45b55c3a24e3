#include "endpoint/inbound.hpp"

#include <algorithm>
#include <cstring>

#include <pubsub/topic.hpp>

namespace pubsub {

namespace {
constexpr std::size_t max_told_bytes = 64 * 1024 * 1024;
}

inbound::inbound(environment env, const router& routes, std::shared_ptr<tally> counts)
    : env_(std::move(env)), source_(env_.via),
      routes_(routes, {.links = env_.forwarding, .except = env_.via.get()}),
      counts_(std::move(counts)) {}

void inbound::receive(const intrusive_ptr<chunk>& owner, std::span<std::byte> frames) {
  owner_ = &owner;
  batch_size_ = frames.size();
  refresh();
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

void inbound::refresh() {
  if (routes_.refresh())
    for (auto& each : tables_)
      each.routes.clear();
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
  if (envelope->type == wire::envelope_type::command)
    return; // data stores are not ours
  end_run();
  env_.on_control(*envelope);
  refresh();
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

// -- version 2 ---------------------------------------------------------------------------------

bool inbound::take_flagged(std::span<std::byte> payload) {
  end_run();
  const auto kind = wire::kind_of(payload);
  if (!kind)
    return false;
  return *kind == wire::batch_kind::topics ? take_topics(payload) : take_batch(payload);
}

bool inbound::take_topics(std::span<const std::byte> payload) {
  const auto told = wire::parse_topics(payload);
  if (!told || std::ranges::any_of(told->topics,
                                   [](auto topic) { return topic.size() > topic::max_size_bytes; }))
    return false;
  if (told->table >= tables_.size())
    tables_.resize(told->table + std::size_t{1});
  auto& [topics, routes] = tables_[told->table];
  if (told->first == 0) {
    for (std::size_t i = 0; topics && i < topics->size(); ++i)
      told_bytes_ -= topics->at(i).size();
    topics = topic_table::make(topic_table::max_topics);
    routes.clear();
  }
  if (!topics || told->first != topics->size())
    return false;
  for (auto each : told->topics) {
    topics->add(each);
    told_bytes_ += each.size();
  }
  return told_bytes_ <= max_told_bytes;
}

bool inbound::take_batch(std::span<std::byte> payload) {
  const auto batch = wire::parse_batch(payload);
  if (!batch || batch->header.table >= tables_.size() || !tables_[batch->header.table].topics)
    return false;
  auto& told = tables_[batch->header.table];
  const auto records = payload.last(batch->records.size());
  const auto check = wire::check_records(records, batch->header.messages, told.topics->size());
  if (check == wire::records_check::malformed)
    return false;
  counts_->received.add(batch->header.messages);
  env_.via->count_received(batch->header.messages);
  if (batch->header.origin.endpoint == env_.self)
    return true; // it has come home: we have it already
  if (check == wire::records_check::one_topic)
    take_part(route_of(told, record_topic(records.data())), told, batch->header, 0,
              {records.data(), {batch->header.messages, records.size()}});
  else
    take_records(told, batch->header, records);
  end_run();
  return true;
}

/// Cuts the batch where the route changes; the records have been checked.
void inbound::take_records(told_table& told, const wire::batch_header& header,
                           std::span<std::byte> records) {
  auto* pos = records.data();
  for (std::uint32_t n = 0; n < header.messages; ++n) {
    const auto size = record_bytes(pos);
    take_part(route_of(told, record_topic(pos)), told, header, n, {pos, {1, size}});
    pos += size;
  }
}

/// Records from the `first` on that take the same route.
void inbound::take_part(const route& to, const told_table& told, const wire::batch_header& header,
                        std::uint32_t first, const batch_part& part) {
  const bool may_pass = header.origin.hops_left > 1;
  if (&to != run_.to) {
    end_run();
    run_ = {.to = &to,
            .pass_on = may_pass && !to.links.empty(),
            .begin = part.begin,
            .size = {},
            .topics = told.topics.get(),
            .origin = header.origin};
    run_.origin.first_sequence += first;
    run_.origin.hops_left = static_cast<std::uint8_t>(may_pass ? header.origin.hops_left - 1 : 0);
  }
  if (!may_pass && !to.links.empty())
    counts_->ttl_expired.add(part.size.messages);
  run_.size.bytes += part.size.bytes;
  run_.size.messages += part.size.messages;
}

const route& inbound::route_of(told_table& told, std::uint8_t topic) {
  while (told.routes.size() <= topic)
    told.routes.push_back(&routes_.resolve(told.topics->at(told.routes.size())));
  return *told.routes[topic];
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
    const auto links = run_.pass_on ? to.to_links() : std::span<bounded_queue* const>{};
    const auto run = run_at(owner_->get(), run_.begin);
    const auto for_queues = to.queues.empty() || !worth_copying() ? run : copy_run();
    if (to.queues.size() > 1)
      for_queues->set_shared();
    counts_->forwarded.add(links.size() * run_.size.messages);
    hand_on(links, run);
    hand_on(to.to_queues(), for_queues);
  }
  run_ = {};
}

intrusive_ptr<message_run> inbound::run_at(const chunk* owner, const std::byte* begin) const {
  return message_run::of_records(
      {.owner = owner, .first = begin, .topics = run_.topics, .origin = run_.origin}, run_.size);
}

void inbound::hand_on(std::span<bounded_queue* const> to, const intrusive_ptr<message_run>& run) {
  for (auto* each : to)
    if (each->push_run(run, source_))
      env_.via->expect_resume();
}

/// A few messages out of a large buffer: copied, so that they do not keep all of it alive.
intrusive_ptr<message_run> inbound::copy_run() {
  auto* to = copies_.reserve(run_.size.bytes);
  std::memcpy(to, run_.begin, run_.size.bytes);
  copies_.commit(run_.size.bytes);
  return run_at(copies_.current(), to);
}

} // namespace pubsub
