// The part of a run that makes messages of its slices.
// SPDX-License-Identifier: BSD-3-Clause
#include "message/message_run.hpp"

#include "message/frame.hpp"
#include "message/message_access.hpp"
#include "message/record.hpp"

namespace pubsub {

message_run::decoded_table::~decoded_table() {
  for (const auto& [at, value] : slots)
    message_access::release(value);
}

void message_run::read(run_position from, std::uint32_t messages, std::vector<data_message>& out) {
  if (slots_)
    return read_handles(from.messages, messages, out);
  acquire(messages);
  topics_ ? read_records(from, messages, out) : read_frames(from, messages, out);
}

// Each message is checked while its bytes are at hand.

void message_run::read_records(run_position from, std::uint32_t messages,
                               std::vector<data_message>& out) {
  const auto* pos = first_ + from.bytes;
  for (; messages > 0; --messages) {
    const auto size = record_payload_size(pos);
    prefetch_records_behind(pos, size + record_header_bytes);
    pos += record_header_bytes;
    message_access::add_slice(out, this, pos, 0, size);
    pos += size;
  }
}

void message_run::read_frames(run_position from, std::uint32_t messages,
                              std::vector<data_message>& out) {
  const auto* pos = first_ + from.bytes;
  for (; messages > 0; --messages) {
    const frame_content content{pos};
    pos += frame_bytes(pos);
    message_access::add_slice(out, this, pos - content.payload_size, content.topic_size,
                              content.payload_size);
  }
}

void message_run::read_handles(std::uint32_t first, std::uint32_t messages,
                               std::vector<data_message>& out) {
  for (auto i = first; i < first + messages; ++i)
    if (shared_)
      out.push_back(slots_[i].msg);
    else
      out.push_back(std::move(slots_[i].msg));
}

std::span<const std::byte> message_run::payload_at(run_position at) const {
  if (slots_)
    return message_access::payload(slots_[at.messages].msg);
  const auto* pos = first_ + at.bytes;
  if (topics_)
    return {pos + record_header_bytes, record_payload_size(pos)};
  const std::size_t size = frame_content{pos}.payload_size;
  return {pos + frame_bytes(pos) - size, size};
}

const data_message::decoded_value* message_run::decoded_at(const std::byte* at) const {
  std::call_once(table_made_, [&] { table_ = std::make_unique<decoded_table>(); });
  std::lock_guard lock{table_->mutex};
  auto& value = table_->slots[at];
  if (value == nullptr)
    value = message_access::new_decoded();
  return message_access::acquire(value);
}

} // namespace pubsub
