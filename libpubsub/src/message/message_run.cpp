// SPDX-License-Identifier: BSD-3-Clause
#include "message/message_run.hpp"

#include <cstring>

#include "message/frame.hpp"
#include "message/record.hpp"

namespace pubsub {

message_run::message_run(const record_source& source, std::uint64_t state)
    : state_(state), owner_(intrusive_ptr<const chunk>::share(source.owner)), first_(source.first),
      topics_(intrusive_ptr<const topic_table>::share(source.topics)), origin_(source.origin) {}

message_run::message_run(std::uint32_t slots)
    : state_(0), slots_(std::make_unique<slot[]>(slots)), slot_count_(slots) {}

message_run::~message_run() = default;

intrusive_ptr<message_run> message_run::of_records(const record_source& source) {
  return intrusive_ptr<message_run>::adopt(new message_run(source, 0));
}

intrusive_ptr<message_run> message_run::of_records(const record_source& source, run_position size) {
  return intrusive_ptr<message_run>::adopt(new message_run(source, closed_bit | pack(size)));
}

intrusive_ptr<message_run> message_run::of_frames(const chunk* owner, const std::byte* first,
                                                  run_position size) {
  record_source source;
  source.owner = owner;
  source.first = first;
  return of_records(source, size);
}

intrusive_ptr<message_run> message_run::of_handles(std::uint32_t slots) {
  return intrusive_ptr<message_run>::adopt(new message_run(slots));
}

// -- the appending thread ----------------------------------------------------------------------

/// The word is not what the writer has left there: a reader watches, or the run was closed.
message_run::outcome message_run::append_behind(std::uint64_t state, std::uint64_t step) noexcept {
  while ((state & closed_bit) == 0) {
    const auto next = (state & ~watched_bit) + step;
    if (state_.compare_exchange_weak(state, next, std::memory_order_acq_rel,
                                     std::memory_order_relaxed))
      return (state & watched_bit) == 0 ? outcome::appended : outcome::watched;
  }
  return outcome::closed;
}

message_run::outcome message_run::append(data_message& msg, std::uint32_t size_bytes) noexcept {
  auto end = now().end;
  auto& place = slots_[end.messages];
  place.msg = std::move(msg);
  place.size_bytes = size_bytes;
  const auto result = append(end, size_bytes);
  if (result == outcome::closed)
    msg = std::move(place.msg);
  return result;
}

// -- anybody -----------------------------------------------------------------------------------

void message_run::close() noexcept {
  state_.fetch_or(closed_bit, std::memory_order_acq_rel);
}

bool message_run::watch(std::uint64_t seen_bytes) noexcept {
  auto state = state_.load(std::memory_order_acquire);
  while ((state & bytes_mask) == seen_bytes && (state & closed_bit) == 0) {
    if (state_.compare_exchange_weak(state, state | watched_bit, std::memory_order_acq_rel,
                                     std::memory_order_acquire))
      return true;
  }
  return (state & bytes_mask) == seen_bytes;
}

// -- readers -----------------------------------------------------------------------------------

/// Bytes of the message at this place.
std::uint64_t message_run::size_at(run_position at) const noexcept {
  if (slots_)
    return slots_[at.messages].size_bytes;
  return topics_ ? record_bytes(first_ + at.bytes) : frame_bytes(first_ + at.bytes);
}

std::uint64_t message_run::bytes_of(run_position from, std::uint32_t messages) const noexcept {
  auto at = from;
  for (; messages > 0; --messages) {
    at.bytes += size_at(at);
    ++at.messages;
  }
  return at.bytes - from.bytes;
}

std::string_view message_run::topic_at(run_position at) const noexcept {
  if (slots_)
    return get_topic(slots_[at.messages].msg);
  const auto* pos = first_ + at.bytes;
  if (topics_)
    return topics_->at(record_topic(pos));
  const frame_content content{pos};
  return topic_of(pos + frame_bytes(pos) - content.payload_size, content.topic_size);
}

intrusive_ptr<message_run> message_run::alone(run_position at) {
  const auto size = size_at(at);
  if (slots_) {
    const auto [end, closed] = now();
    if (closed && end.messages == 1)
      return intrusive_ptr<message_run>::share(this);
    auto result = of_handles(1);
    auto msg = slots_[at.messages].msg;
    result->append(msg, slots_[at.messages].size_bytes);
    result->close();
    return result;
  }
  auto copy = chunk::make(size);
  std::memcpy(copy->data(), first_ + at.bytes, size);
  record_source source{copy.get(), copy->data(), topics_.get(), origin_};
  source.origin.first_sequence += at.messages;
  return of_records(source, {1, size});
}

} // namespace pubsub
