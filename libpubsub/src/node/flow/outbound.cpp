// SPDX-License-Identifier: BSD-3-Clause
#include "node/flow/outbound.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/probe.hpp"
#include "data/binary.hpp"
#include "link/written_together.hpp"
#include "message/message_access.hpp"
#include "wire/broker/envelope.hpp"
#include "wire/native/batch.hpp"

namespace pubsub {

namespace {

/// The bytes of what is encoded already; nothing for a value.
std::optional<std::span<const std::byte>> encoded_form(const publishable& what) {
  if (const auto* msg = what.message())
    return message_access::payload(*msg);
  if (const auto* encoded = what.content().encoded())
    return *encoded;
  return std::nullopt;
}

} // namespace

/// Null if the message fits into a frame of either version; else what counts those that do not.
/// Every message on its way out passes here first.
live_counter* outbound::refusal(std::string_view topic, std::size_t payload_size) const noexcept {
  PUBSUB_PROBE(publish, topic, payload_size); // at the start its arguments are at hand
  const bool may_be_reserved = topic.find('<') != std::string_view::npos;
  if (topic.size() > topic::max_size_bytes || (may_be_reserved && is_reserved_topic(topic)))
    return &counts_->refused_topic;
  return payload_size < too_many_bytes(topic) ? nullptr : &counts_->refused_size;
}

/// A payload that fits into a frame of either version has fewer bytes.
std::size_t outbound::too_many_bytes(std::string_view topic) const noexcept {
  const auto overhead = std::max(wire::data_frame_bytes(topic.size(), 0),
                                 wire::batch_header_bytes + record_header_bytes);
  return overhead > max_frame_bytes_ ? 0 : max_frame_bytes_ - overhead + 1;
}

void outbound::leave_old_routes() {
  seal();
  stream_.forget_topics();
  addressed_.forget_topics();
  for (auto& each : routes_.take_retired_routes()) {
    std::set<endpoint_id> nodes(each.nodes.begin(), each.nodes.end());
    unsettled_.push_back({flushes_.begin(std::move(each)), std::move(nodes)});
  }
}

/// Waits for the nodes that this route leads to, and for no others; a client, for the relay that it
/// published over before. False if what took another route so far has not arrived at `until`.
bool outbound::is_flushed(const route& to, const deadline& until) {
  bool arrived = true;
  std::erase_if(unsettled_, [&](const auto& each) {
    if (!routes_.is_of_client() && !to.is_for(each.nodes))
      return each.flush->settled();
    const bool settled = arrived && each.flush->wait(until);
    arrived = arrived && settled;
    return settled;
  });
  return arrived;
}

void outbound::seal() noexcept {
  records_.seal();
  handles_.seal();
}

/// Hands on the record just written. Most go on with the run of the one before.
inline push_result outbound::end_record(record_stream& from, const route& to,
                                        run_writer::exits exits, const deadline& until) {
  if (!written_together::are_few(to.links.size()) ||
      !records_.append(exits, from.source(wire::default_ttl), from.size_bytes())) [[unlikely]]
    return end_in_fresh_run(from, to, exits, until);
  from.commit();
  return push_result::taken;
}

/// If it is not taken, its bytes are used again. Where there are links this does not wait: who has
/// to wait may find another route then.
push_result outbound::end_in_fresh_run(record_stream& from, const route& to,
                                       run_writer::exits exits, const deadline& until) {
  const auto result = written_together::unless_few(to.links.size(), [&] {
    return records_.push(exits, from.source(wire::default_ttl), from.size_bytes(),
                         to.links.empty() ? until : immediately());
  });
  if (result != push_result::would_block)
    from.commit();
  return result;
}

/// A message on a topic without subscribers.
publish_result outbound::leave() {
  counts_->unwanted.add(1);
  count_published();
  return publish_result::unwanted;
}

publish_result outbound::count(push_result result) {
  if (result == push_result::would_block) {
    counts_->would_block.add(1);
    return publish_result::would_block;
  }
  count_published();
  if (result != push_result::dropped)
    return publish_result::taken;
  counts_->dropped.add(1);
  return publish_result::dropped;
}

/// Most messages go the way of the one before, and are only appended. False, without effect, if
/// this one does not.
inline bool outbound::append_next(std::string_view topic, std::span<const std::byte> value) {
  if (value.size() >= next_bytes_below_ || routes_.have_changed() ||
      !stream_.goes_on(topic, value.size()) || PUBSUB_IS_TRACED(publish)) [[unlikely]]
    return false;
  std::memcpy(stream_.begin_again(value.size()), value.data(), value.size());
  if (!records_.append_next(stream_.size_bytes())) [[unlikely]]
    return false;
  stream_.commit();
  counts_->published.add(1);
  return true;
}

publish_result outbound::publish(std::string_view topic, publishable&& what,
                                 const deadline& until) {
  const auto* encoded = what.message() == nullptr ? what.content().encoded() : nullptr;
  if (encoded == nullptr || !append_next(topic, *encoded))
    return find_way(topic, std::move(what), until);
  return publish_result::taken;
}

publish_result outbound::find_way(std::string_view topic, publishable&& what,
                                  const deadline& until) {
  if (const auto* msg = what.message())
    return publish_message(topic, *msg, until);
  auto& content = what.content();
  if (const auto* encoded = content.encoded())
    return publish_encoded(topic, *encoded, until);
  return publish_value(topic, std::move(content).take(), until);
}

/// After a message went over `to`: where that asks nothing of the next one, it only is appended.
void outbound::note_way(std::string_view topic, const route& to) noexcept {
  if (!to.selection && !left_out_.any() && unsettled_.empty() &&
      written_together::are_few(to.links.size()))
    next_bytes_below_ = too_many_bytes(topic);
}

publish_result outbound::publish_encoded(std::string_view topic, std::span<const std::byte> value,
                                         const deadline& until) {
  if (auto* cause = refusal(topic, value.size()))
    return refuse(*cause);
  while (const auto* to = resolve(
             topic, [&] { return value; }, until)) {
    if (to->empty())
      return leave();
    if (!std::exchange(records_to_queues_, true))
      seal();
    std::memcpy(stream_.begin(topic, to->nodes, value.size()), value.data(), value.size());
    const auto sent = end_record(stream_, *to, to->to_all(), until);
    if (is_to_be_tried(sent, *to))
      continue;
    if (sent == push_result::taken)
      note_way(topic, *to);
    return count(sent);
  }
  return count(push_result::would_block);
}

publish_result outbound::publish_value(std::string_view topic, data value, const deadline& until) {
  const auto size = encoded_size(value);
  if (auto* cause = refusal(topic, size))
    return refuse(*cause);
  const auto encoded = [&]() -> std::span<const std::byte> {
    encoded_.resize(size);
    encode(value, encoded_.data());
    return encoded_;
  };
  while (const auto* to = resolve(topic, encoded, until)) {
    if (to->empty())
      return leave();
    if (!to->queues.empty())
      return publish_built(topic, message_access::value(topic, std::move(value)), size, until);
    encode(value, stream_.begin(topic, to->nodes, size)); // no subscriber here needs it itself
    if (const auto sent = end_record(stream_, *to, to->to_links(), until);
        !is_to_be_tried(sent, *to))
      return count(sent);
  }
  return count(push_result::would_block);
}

publish_result outbound::publish_message(std::string_view topic, const data_message& msg,
                                         const deadline& until) {
  if (!msg)
    return refuse(counts_->refused_empty);
  if (repeated_.holds(msg, topic)) { // and it was acceptable
    PUBSUB_PROBE(publish, topic, repeated_.payload_size());
    return publish_built(topic, repeated_.copy(), repeated_.payload_size(), until);
  }
  const auto* stored = message_access::stored_value(msg);
  if (get_topic(msg) != topic)
    return stored != nullptr ? publish_value(topic, get_data(msg), until)
                             : publish_encoded(topic, message_access::payload(msg), until);
  const auto size = stored != nullptr
                        ? stored->encoded_size([](const data& x) { return encoded_size(x); })
                        : message_access::payload(msg).size();
  if (auto* cause = refusal(topic, size))
    return refuse(*cause);
  repeated_.note(msg, size);
  return publish_built(topic, msg, size, until);
}

publish_result outbound::publish_to(const endpoint_id& receiver, std::string_view topic,
                                    const publishable& what, const deadline& until) {
  const auto encoded = encoded_form(what);
  const auto size = encoded ? encoded->size() : encoded_size(what.content().value());
  if (auto* cause = refusal(topic, size))
    return refuse(*cause);
  const auto find = [&]() -> const route& { return routes_.resolve_addressed(topic, receiver); };
  while (const auto* to = once_ready(find, until)) {
    if (to->empty())
      return leave();
    if (!std::exchange(records_to_queues_, true))
      seal();
    auto* body = addressed_.begin(topic, to->nodes, size);
    if (encoded)
      std::ranges::copy(*encoded, body);
    else
      encode(what.content().value(), body);
    if (const auto sent = end_record(addressed_, *to, to->to_all(), until);
        !is_to_be_tried(sent, *to))
      return count(sent);
  }
  return count(push_result::would_block);
}

/// Queues get the handle, links the encoded form.
publish_result outbound::publish_built(std::string_view topic, data_message msg,
                                       std::size_t payload_size, const deadline& until) {
  const auto size = static_cast<std::uint32_t>(topic.size() + payload_size);
  const auto encoded = [&] { return message_access::payload(msg); };
  while (const auto* to = resolve(topic, encoded, until)) {
    if (to->empty())
      return leave();
    if (std::exchange(records_to_queues_, false))
      seal();
    if (to->links.empty())
      return count(handles_.push(to->to_queues(), msg, size, until));
    // All or none: the queues must have room before the links get the message.
    if (!handles_.goes_on(to->to_queues()) && !run_writer::wait_for_room(to->to_queues(), until))
      break;
    const auto payload = message_access::payload(msg);
    std::memcpy(stream_.begin(topic, to->nodes, payload_size), payload.data(), payload.size());
    const auto sent = end_record(stream_, *to, to->to_links(), until);
    if (sent == push_result::would_block)
      continue;
    if (to->queues.empty())
      return count(sent);
    const auto queued = handles_.push(to->to_queues(), msg, size, until, when_full::overshoot);
    return count(sent == push_result::dropped ? sent : queued);
  }
  return count(push_result::would_block);
}

} // namespace pubsub
