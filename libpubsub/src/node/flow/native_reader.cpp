// SPDX-License-Identifier: BSD-3-Clause
#include "node/flow/native_reader.hpp"

#include <algorithm>

#include <pubsub/topic.hpp>

#include "base/bytes.hpp"
#include "base/probe.hpp"
#include "link/tuning.hpp"
#include "node/flow/tuning.hpp"
#include "wire/native/network.hpp"

namespace pubsub {

void native_reader::begin() {
  bool suits = true;
  if (env_.remote_is_client)
    suits = router_.add_client(env_.remote, env_.via, env_.is_client, env_.remote_name);
  else if (env_.is_client)
    suits = router_.add_relay(env_.remote, env_.via, env_.remote_name);
  else
    router_.add_neighbour(env_.remote, env_.via);
  if (!suits)
    env_.via->close({errc::peer_disconnect_during_handshake, "this endpoint is a client no more"});
}

std::size_t native_reader::receive(const intrusive_ptr<chunk>& owner, std::span<std::byte> frames) {
  runs_.begin_buffer(owner, frames.size());
  auto* pos = frames.data();
  auto* const end = pos + frames.size();
  while (pos != end && !env_.via->resting()) {
    const auto word = load_be<std::uint32_t>(pos);
    const auto size = frame_header_bytes + (word & ~wire::batch_flag);
    if ((word & wire::batch_flag) == 0) {
      take_frame(pos, size);
    } else if (!take_flagged({pos + frame_header_bytes, size - frame_header_bytes})) {
      env_.via->close({errc::invalid_message, "the peer sent a malformed batch"});
      pos = end; // what follows is not looked at
      break;
    }
    pos += size;
  }
  runs_.end_buffer();
  if (env_.via->is_new_and_paused())
    env_.via->pause_reading(link_tuning::rest_of_new_peers, true);
  return static_cast<std::size_t>(pos - frames.data());
}

bool native_reader::must_wait(std::size_t place, const held_frame& frame) {
  return frame.what == held_frame::kind::flush
             ? held_.must_wait(place, *wire::parse_flush(frame.bytes))
             : must_wait(place, frame.stream, *frame.topics);
}

bool native_reader::must_wait(std::size_t place, const stream_name& stream,
                              const announced_topics& topics) {
  if (waits_for_another_relay())
    return true;
  return held_.active(place) &&
         held_.must_wait(place, stream, [&](const holding::node_counts& awaited) {
           const auto leads_there = [&](const wire::announced_topic& each) {
             return is_published(each) &&
                    routes_.resolve_published(each.text, place + 1).is_for(awaited);
           };
           if (env_.remote_is_client && std::ranges::any_of(topics.topics, leads_there))
             return true;
           const auto& nodes = topics.destinations;
           if (awaited.size() < nodes.size())
             return std::ranges::any_of(
                 awaited, [&](const auto& each) { return nodes.contains(each.first); });
           return std::ranges::any_of(nodes,
                                      [&](const auto& each) { return awaited.contains(each); });
         });
}

/// What was parsed when it came in is parsed again: it is known to be well-formed.
void native_reader::route_held(held_frame& frame) {
  if (frame.what == held_frame::kind::flush)
    return pass_flush(*wire::parse_flush(frame.bytes));
  const auto batch = wire::parse_batch(frame.bytes);
  route_batch(*frame.topics, batch->header, frame.bytes.last(batch->records.size()), false);
}

bool native_reader::take_flagged(std::span<std::byte> payload) {
  runs_.end_run();
  const auto granted = [&](const auto& credit) {
    if (credit)
      env_.via->grant(*credit);
    return credit.has_value();
  };
  const auto letter = [&](const auto& news, const auto&... from) {
    if (news)
      router_.receive(from..., *news);
    return news.has_value();
  };
  switch (wire::kind_of(payload).value_or(wire::frame_kind{})) {
  case wire::frame_kind::records:
    return take_batch(payload);
  case wire::frame_kind::topics:
    return take_topics(payload);
  case wire::frame_kind::neighbours:
    return take_report(wire::parse_neighbours(payload));
  case wire::frame_kind::filter:
    return take_report(wire::parse_filter_report(payload));
  case wire::frame_kind::known:
    if (!std::exchange(ready_, true)) {
      if (!env_.is_client && !env_.remote_is_client)
        router_.neighbour_ready(env_.remote);
      env_.on_ready();
    }
    return true;
  case wire::frame_kind::credit:
    return granted(wire::parse_credit(payload));
  case wire::frame_kind::question:
    return take_question(wire::parse_question(payload));
  case wire::frame_kind::answer:
    return letter(wire::parse_answer(payload), env_.remote);
  case wire::frame_kind::flush:
    return take_flush(payload);
  case wire::frame_kind::interest:
  case wire::frame_kind::wanted:
    return take_interest(payload);
  case wire::frame_kind::served: {
    note_report(env_.remote, 1);
    const auto by = wire::parse_served(payload);
    if (by)
      router_.receive_served(env_.remote, *by);
    return by.has_value();
  }
  case wire::frame_kind::relays: {
    const auto relays = wire::parse_relays(payload);
    note_report(env_.remote, relays ? 1 + relays->size() : 1);
    if (relays)
      router_.receive_relays(env_.remote, *relays);
    return relays.has_value();
  }
  case wire::frame_kind::entry:
    return take_entry(payload);
  case wire::frame_kind::flushed:
    return letter(wire::parse_flushed(payload));
  case wire::frame_kind::inquiry:
  case wire::frame_kind::reply:
    return env_.on_inquiry(payload);
  }
  return false;
}

template <class Report>
bool native_reader::take_report(std::optional<Report> news) {
  if (!news)
    return false;
  note_report(news->about.node, 1 + news->added.size() + news->removed.size());
  return !rights_.allows(*news) || router_.receive(env_.remote, std::move(*news));
}

/// A client asks, our relay tells, and a client confirms that.
bool native_reader::take_interest(std::span<const std::byte> payload) {
  note_report(env_.remote, 1);
  const auto news = wire::parse_interest(payload);
  if (!news)
    return false;
  if (wire::kind_of(payload) == wire::frame_kind::interest)
    router_.receive_interest(env_.remote, *news);
  else
    router_.receive_wanted(env_.remote, *news);
  return true;
}

/// A client asks for itself, and this node only.
bool native_reader::take_question(std::optional<filter_question> question) {
  if (!question || (env_.remote_is_client && question->from != env_.remote))
    return false;
  if (env_.remote_is_client)
    question->to = {env_.self};
  router_.receive(std::move(*question));
  return true;
}

/// Of a client it is known, and a client has none.
bool native_reader::take_entry(std::span<const std::byte> payload) {
  const auto news = wire::parse_entry(payload);
  if (!news || env_.remote_is_client || news->table >= tables_.size() || !tables_[news->table])
    return false;
  tables_[news->table]->entry = news->relay;
  return true;
}

bool native_reader::take_topics(std::span<const std::byte> payload) {
  auto news = wire::parse_topics(payload);
  if (!news || std::ranges::any_of(news->topics, [](const auto& each) {
        return each.text.size() > topic::max_size_bytes;
      }))
    return false;
  if (news->table >= tables_.size())
    tables_.resize(news->table + std::size_t{1});
  auto& place = tables_[news->table];
  topics_ += news->topics.size();
  if (news->first == 0)
    topics_ -= place ? place->topics.size() : 0;
  if (news->first == 0)
    place = std::make_shared<announced_topics>(
        env_.via->topic_bytes()); // batches that wait keep the old one
  if (!place || news->first != place->topics.size())
    return false;
  auto& announced = *place;
  for (auto& fresh : news->topics) {
    announced.held.add(2 * fresh.bytes());
    for (const auto& each : fresh.destinations)
      announced.destinations.insert(each.node);
    announced.topics.push_back(std::move(fresh));
  }
  announced.returns_as_of = 0;
  rights_.look_at_topics(topics_);
  look_at_topic_bytes();
  return true;
}

/// A sender of many topics is held back until queues have let go of some.
void native_reader::look_at_topic_bytes() {
  const std::size_t bytes = *env_.via->topic_bytes();
  if (bytes > flow_tuning::max_announced_bytes)
    return env_.via->close({errc::limit_exceeded, "the peer's topics take too much memory"});
  if (bytes <= flow_tuning::enough_announced_bytes || std::exchange(topics_pause_, true))
    return;
  for (std::size_t hops = 0; hops < wire::max_hops; ++hops)
    env_.via->gate(hops).pause();
  env_.call_back(flow_tuning::time_between_looks);
}

void native_reader::go_on() {
  message_reader::go_on();
  answer_client();
  look_again_if_waiting();
  if (!topics_pause_)
    return;
  if (*env_.via->topic_bytes() > flow_tuning::enough_announced_bytes)
    return env_.call_back(flow_tuning::time_between_looks);
  topics_pause_ = false;
  for (std::size_t hops = 0; hops < wire::max_hops; ++hops)
    env_.via->gate(hops).resume();
}

bool native_reader::take_batch(std::span<std::byte> payload) {
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
  if (!env_.via->took(hops, batch->records.size())) {
    env_.via->close({errc::limit_exceeded, "the peer sends more than it has credit for"});
    return true;
  }
  rights_.note_messages(header.messages, payload.size());
  const bool of_another = env_.remote_is_client && header.origin.endpoint != env_.remote;
  if (of_another || !rights_.allows_messages_of(header.origin.endpoint)) {
    counts_->denied.add(header.messages);
    return true;
  }
  const stream_name stream{header.origin.endpoint, header.origin.stream};
  if ((held_.active(hops) || waits_for_another_relay()) && must_wait(hops, stream, *announced)) {
    held_.add(hops, make_held(held_frame::kind::batch, payload, stream, announced));
    look_again_if_waiting();
  } else {
    route_batch(*announced, header, payload.last(batch->records.size()),
                check == wire::records_check::one_topic);
  }
  return true;
}

/// Whether the messages may have gone over this link before: what cannot go on there comes back, to
/// take another route.
bool native_reader::may_return(announced_topics& announced) const {
  if (std::exchange(announced.returns_as_of, routes_.generation()) != routes_.generation())
    announced.returns = router_.has_led_to(announced.destinations, env_.via);
  return announced.returns;
}

/// Whether a client has published on the topic, and where it goes is up to us.
bool native_reader::is_published(const wire::announced_topic& x) const {
  return env_.remote_is_client && env_.forwarding && x.destinations.size() == 1 &&
         x.destinations.front().node == env_.self &&
         x.destinations.front().filter_number != destination::addressed;
}

/// Whether the peer reaches the node by itself.
bool native_reader::is_behind(const endpoint_id& node) {
  constexpr std::size_t most_remembered = 1024;
  if (node == env_.remote || behind_.contains(node))
    return true;
  if (not_behind_.size() >= most_remembered)
    not_behind_.clear();
  if (std::exchange(not_behind_[node], routes_.generation()) == routes_.generation() ||
      !router_.reaches(env_.remote, node))
    return false;
  behind_.insert(node); // messages under way stay the node's if this changes
  return true;
}

/// Whether the endpoint is a client of that relay, as far as this node can tell, and messages of
/// the relay may come over the peer. A client believes its relay.
bool native_reader::has_entered(const endpoint_id& client, const endpoint_id& relay) {
  constexpr std::size_t most_remembered = 65'536;
  if (relay.is_nil())
    return false;
  if (const auto known = entered_.find(client); known != entered_.end() && known->second == relay)
    return true;
  if (!router_.may_enter_at(client, relay) || (!env_.is_client && !is_behind(relay)))
    return false;
  if (entered_.size() >= most_remembered)
    entered_.clear();
  entered_[client] = relay;
  router_.note_entry(client, {relay, env_.remote});
  return true;
}

/// The peer's word counts for its own messages, for those of nodes that it reaches by itself (while
/// links change it may not be the next hop to them), for those of clients of such nodes, and for
/// those that were on their way over it.
/// Whatever else it sends is taken for messages that it has let in, in a stream that is none of its
/// publishers': it cannot make messages of others seem to have come.
run_origin native_reader::believed(run_origin claimed, announced_topics& announced) {
  constexpr std::uint32_t adopted = 0x4000'0000;
  const auto& node = claimed.endpoint;
  if (has_entered(node, announced.entry) || env_.is_client || is_behind(node) ||
      may_return(announced))
    return claimed;
  const auto name = static_cast<std::uint32_t>(std::hash<endpoint_id>{}(node)) ^ claimed.stream;
  claimed.endpoint = env_.remote;
  claimed.stream = adopted | entered_flag | (name & (entered_flag - 1));
  return claimed;
}

void native_reader::route_batch(announced_topics& announced, wire::batch_header header,
                                std::span<std::byte> records, bool one_topic) {
  const auto hops = wire::hops_come(header.origin.hops_left);
  runs_.set_hops(hops);
  if (announced.hops != hops + 1 || announced.generation != routes_.generation()) {
    announced.hops = hops + 1;
    announced.generation = routes_.generation();
    announced.routes.clear();
    announced.screened.clear();
    announced.passed_on = {};
  }
  std::unique_lock<std::mutex> turn;
  std::uint32_t late = 0;
  const bool came_home = header.origin.endpoint == env_.self; // we have it already
  header.origin = believed(header.origin, announced);
  if (came_home) {
    late = header.messages;
  } else if (announced.destinations.contains(env_.self)) {
    auto& mark = mark_of(announced, header.origin);
    turn = std::unique_lock{mark.mutex};
    late = mark.skip(header.origin.first_sequence, header.messages);
  }
  auto* pos = records.data();
  const auto* const whole =
      one_topic && late == 0 ? &route_of(announced, record_topic(pos)) : nullptr;
  if (whole != nullptr && !whole->selection && announced.screened[record_topic(pos)] == 0) {
    take_part(*whole, announced, header, {pos, {header.messages, records.size()}, 0});
  } else { // cut where the route changes; the records have been checked
    for (std::uint32_t n = 0; n < header.messages; ++n) {
      const auto size = record_bytes(pos);
      take_record(announced, header, {pos, {1, size}, n, n < late});
      pos += size;
    }
  }
  runs_.end_run();
}

/// What the screen does not let pass ends the run: what follows does not lie next to it.
void native_reader::take_record(announced_topics& announced, const wire::batch_header& header,
                                const batch_part& part) {
  const auto topic = record_topic(part.begin);
  const auto& text = announced.topics[topic].text;
  const auto& whole = route_of(announced, topic);
  const std::span value{part.begin + record_header_bytes, part.size.bytes - record_header_bytes};
  if (announced.screened[topic] != 0 && !screen_.passes(text, value)) {
    counts_->screened_out.add(1);
    PUBSUB_PROBE_IF_TRACED(drop, text, 1, "screened_out");
    return runs_.end_run();
  }
  const auto& to = routes_.select(whole, text, [&] { return std::span<const std::byte>{value}; });
  take_part(to, announced, header, part);
}

void native_reader::take_part(const route& to, const announced_topics& announced,
                              const wire::batch_header& header, const batch_part& part) {
  const bool may_pass = header.origin.hops_left > 1;
  if (!runs_.continues(to, !part.late)) {
    auto origin = header.origin;
    origin.first_sequence += part.first;
    origin.hops_left = static_cast<std::uint8_t>(may_pass ? header.origin.hops_left - 1 : 0);
    runs_.begin_run({.to = &to,
                     .deliver = !part.late,
                     .pass_on = may_pass && !to.links.empty(),
                     .begin = part.begin,
                     .size = {},
                     .topics = announced.passed_on.get(),
                     .origin = origin});
  }
  const auto& topic = announced.topics[record_topic(part.begin)];
  if (!may_pass && !to.links.empty()) {
    counts_->ttl_expired.add(part.size.messages);
    PUBSUB_PROBE_IF_TRACED(drop, topic.text, part.size.messages, "ttl_expired");
  }
  if (to.unreachable > 0) {
    counts_->unreachable.add(to.unreachable * part.size.messages);
    PUBSUB_PROBE_IF_TRACED(drop, topic.text, to.unreachable * part.size.messages, "unreachable");
  }
  if (to.left_out.withheld > 0 && may_pass)
    counts_->withheld.add(to.left_out.withheld * part.size.messages);
  if (to.denied || to.left_out.denied > 0)
    counts_->denied.add((to.denied ? 1 : to.left_out.denied) * part.size.messages);
  if (part.late && !to.queues.empty())
    counts_->duplicates.add(part.size.messages);
  if (!part.late && to.unwanted_here) {
    counts_->no_subscriber.add(part.size.messages);
    PUBSUB_PROBE_IF_TRACED(drop, topic.text, part.size.messages, "no_subscriber");
  }
  if (!to.denied && to.empty() && to.left_out.withheld == 0 && is_published(topic)) {
    counts_->no_subscriber.add(part.size.messages);
    PUBSUB_PROBE_IF_TRACED(drop, topic.text, part.size.messages, "no_subscriber");
  }
  runs_.join(part.size);
}

const route& native_reader::route_of(announced_topics& announced, std::uint8_t topic) {
  if (!announced.passed_on) {
    announced.passed_on = topic_table::make(topic_table::max_topics, env_.via->topic_bytes());
    announced.passed_on->set_entry_relay(env_.remote_is_client ? env_.self : announced.entry);
  }
  while (announced.routes.size() <= topic) {
    const auto& each = announced.topics[announced.routes.size()];
    const auto& text = each.text;
    const auto& to = is_published(each) ? routes_.resolve_published(text, announced.hops)
                                        : routes_.resolve(text, each.destinations, announced.hops);
    if (to.denied)
      rights_.deny("no publishing on '" + text + "'");
    announced.passed_on->add(text, to.nodes);
    announced.routes.push_back(&to);
    announced.screened.push_back(screen_.concerns(text) ? 1 : 0);
    look_at_topic_bytes();
  }
  return *announced.routes[topic];
}

/// Most tables carry one stream.
stream_mark& native_reader::mark_of(announced_topics& announced, const run_origin& origin) {
  if (!announced.mark || announced.origin.endpoint != origin.endpoint ||
      announced.origin.stream != origin.stream) {
    announced.mark = router_.streams().find(origin.endpoint, origin.stream);
    announced.origin = origin;
  }
  return *announced.mark;
}

// -- flushes -------------------------------------------------------------------------------------

/// A frame that follows messages: it waits where they wait.
bool native_reader::take_flush(std::span<std::byte> payload) {
  const auto request = wire::parse_flush(payload);
  if (!request || (env_.remote_is_client && request->from != env_.remote))
    return false;
  refresh();
  if (held_.active(request->hops) && held_.must_wait(request->hops, *request))
    held_.add_flush(request->hops, make_held(held_frame::kind::flush, payload));
  else
    pass_flush(*request);
  return true;
}

/// On to the nodes the flush is for, on the routes of messages. This node answers for itself, and
/// for the nodes to which it passes nothing on.
void native_reader::pass_flush(const flush_request& request) {
  if (flush_all_of_client(request))
    return;
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
    if (each.via->out(hops).control_bytes() < flow_tuning::max_waiting_flush_bytes)
      each.via->out(hops).push_control(wire::make_flush(
          {request.from, request.number, static_cast<std::uint8_t>(hops), each.nodes}));
  if (answer.from.empty())
    return;
  if (request.from == env_.remote) // even if we are about to part, and messages avoid the link
    env_.via->push_answer(wire::make_flushed(answer));
  else
    router_.receive(answer);
}

/// A client asks about what it has published here: that has arrived when it has arrived wherever
/// this relay has sent it. False if it has sent nothing on.
bool native_reader::flush_all_of_client(const flush_request& request) {
  constexpr std::size_t most_open = 16; // a client has one for each of its threads that publish
  if (!env_.remote_is_client || !env_.forwarding || request.to != std::vector{env_.self})
    return false;
  if (std::ranges::any_of(client_flushes_, [&](const client_flush& each) {
        return each.request.number == request.number;
      }))
    return true; // it asks again
  auto taken = routes_.routes_taken();
  if ((taken.empty() && !held_.any_active()) || client_flushes_.size() >= most_open)
    return false;
  auto& fresh = client_flushes_.emplace_back(client_flush{request, {}});
  for (auto& each : taken)
    fresh.onward.push_back(
        router_.flushes().begin(std::move(each), [call = env_.call_back] { call({}); }));
  env_.call_back(routing_tuning::time_between_flushes);
  return true;
}

void native_reader::answer_client() {
  std::erase_if(client_flushes_, [&](client_flush& each) {
    std::erase_if(each.onward, [](const auto& flush) { return flush->settled(); });
    if (!each.onward.empty() || held_.any_active()) // or a route before these is not dry
      return false;
    const auto& asked = each.request;
    env_.via->push_answer(
        wire::make_flushed({asked.from, asked.number, wire::max_hops, {env_.self}}));
    return true;
  });
  if (!client_flushes_.empty())
    env_.call_back(routing_tuning::time_between_flushes);
}

} // namespace pubsub
