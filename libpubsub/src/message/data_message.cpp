// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/data_message.hpp>

#include <utility>

#include <pubsub/data_writer.hpp>

#include "message/message_access.hpp"
#include "message/record.hpp"

namespace pubsub {

data& value_storage::edit() const noexcept {
  delete encoded_.exchange(nullptr, std::memory_order_relaxed);
  encoded_size_ = 0;
  return value_;
}

std::span<const std::byte> value_storage::encoded() const {
  const auto* known = encoded_.load(std::memory_order_acquire);
  if (known != nullptr)
    return *known;
  data_writer out;
  out.write(value_);
  auto fresh = std::make_unique<const std::vector<std::byte>>(std::move(out).take());
  if (encoded_.compare_exchange_strong(known, fresh.get(), std::memory_order_acq_rel))
    return *fresh.release();
  return *known;
}

void data_message::acquire(const message_storage* owner) noexcept {
  owner->acquire();
}

void data_message::release(const message_storage* owner) noexcept {
  owner->release();
}

void data_message::swap(data_message& other) noexcept {
  std::swap(owner_, other.owner_);
  std::swap(bytes_, other.bytes_);
  std::swap(payload_size_, other.payload_size_);
  std::swap(topic_size_, other.topic_size_);
  std::swap(checked_, other.checked_);
  const auto* mine = decoded_.load(std::memory_order_relaxed);
  decoded_.store(other.decoded_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  other.decoded_.store(mine, std::memory_order_relaxed);
}

const data_message::decoded_value*
data_message::acquire_decoded(const decoded_value* slot) noexcept {
  slot->refs.fetch_add(1, std::memory_order_relaxed);
  return slot;
}

void data_message::release_decoded(const decoded_value* slot) noexcept {
  if (slot->refs.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete slot;
}

data_message message_access::value(std::string_view topic, data x) {
  data_message msg;
  msg.owner_ = new value_storage(topic, std::move(x));
  return msg;
}

std::span<const std::byte> message_access::payload(const data_message& msg) {
  if (is_slice(msg))
    return {msg.bytes_, msg.payload_size_};
  if (const auto* stored = stored_value(msg))
    return stored->encoded();
  return {};
}

/// The place for the decoded value of a slice: one for all handles that read the same run.
const data_message::decoded_value* message_access::slot_of(const data_message& msg) {
  const auto* slot = msg.decoded_.load(std::memory_order_acquire);
  if (slot != nullptr)
    return slot;
  const auto* run = run_of(msg);
  const auto* fresh = run->shared() ? run->decoded_at(msg.bytes_) : new_decoded();
  // Another thread reading the same handle may get there first; then its slot is used.
  if (msg.decoded_.compare_exchange_strong(slot, fresh, std::memory_order_acq_rel))
    return fresh;
  release(fresh);
  return slot;
}

const data& message_access::decoded(const data_message& msg) {
  const auto* slot = slot_of(msg);
  if (slot->ready.load(std::memory_order_acquire))
    return slot->value;
  std::lock_guard lock{slot->mutex};
  if (!slot->ready.load(std::memory_order_relaxed)) {
    slot->value = data_view::from_valid(payload(msg)).to_data();
    slot->ready.store(true, std::memory_order_release);
  }
  return slot->value;
}

data& message_access::edit(data_message& msg) {
  if (const auto* stored = stored_value(msg); stored != nullptr && stored->unique())
    return stored->edit();
  msg = value(get_topic(msg), get_data(msg));
  return stored_value(msg)->edit();
}

data_message make_data_message(std::string_view topic, data value) {
  return message_access::value(topic, std::move(value));
}

std::string_view get_topic(const data_message& msg) noexcept {
  return message_access::topic(msg);
}

const data& get_data(const data_message& msg) {
  static const data nothing;
  if (message_access::is_slice(msg))
    return message_access::decoded(msg);
  const auto* stored = message_access::stored_value(msg);
  return stored == nullptr ? nothing : stored->value();
}

data_view get_view(const data_message& msg) {
  return msg ? data_view::from_valid(message_access::payload(msg)) : data_view{};
}

namespace {

// The run in which a message has a number; null if it has none.
const message_run* numbered_run_of(const data_message& msg) {
  if (!message_access::is_slice(msg))
    return nullptr;
  const auto* run = message_access::run_of(msg);
  return run->has_records() && !run->origin().endpoint.is_nil() ? run : nullptr;
}

const std::byte* record_of(const data_message& msg) {
  return message_access::payload(msg).data() - record_header_bytes;
}

message_origin origin_in(const message_run& run, std::uint64_t sequence) {
  const auto& origin = run.origin();
  return {origin.endpoint, origin.stream & ~one_topic_flag, sequence};
}

} // namespace

std::optional<message_origin> get_origin(const data_message& msg) {
  return origin_cursor{}.origin_of(msg);
}

std::optional<message_origin> origin_cursor::origin_of(const data_message& msg) {
  const auto* const run = numbered_run_of(msg);
  if (run == nullptr)
    return {};
  const auto* const record = record_of(msg);
  const bool same_run = first_ && message_access::run_of(first_) == run;
  if (!same_run || record < record_) {
    if (!same_run)
      first_ = msg;
    record_ = run->bytes();
    sequence_ = run->origin().first_sequence;
  }
  for (; record_ != record; record_ += record_bytes(record_))
    ++sequence_;
  return origin_in(*run, sequence_);
}

std::optional<endpoint_id> get_publishing_endpoint(const data_message& msg) noexcept {
  if (!message_access::is_slice(msg) || !message_access::run_of(msg)->has_records())
    return {};
  const auto& origin = message_access::run_of(msg)->origin();
  const bool known = !origin.endpoint.is_nil() && !has_entered(origin.stream);
  return known ? std::optional{origin.endpoint} : std::nullopt;
}

data& mutable_data(data_message& msg) {
  return message_access::edit(msg);
}

std::string to_string(const data_message& msg) {
  return std::string{get_topic(msg)} + " -> " + to_string(get_data(msg));
}

} // namespace pubsub
