#include "link/frame_encoder.hpp"

#include <algorithm>
#include <cstring>

#include "wire/broker/envelope.hpp"

namespace pubsub {

namespace {
constexpr std::size_t most_topics_per_frame = 8; // each of up to 64 KiB
}

std::size_t frame_encoder::encode(const run_slice& slice, std::vector<asio::const_buffer>& out) {
  if (slice.run->has_records())
    return version_ >= 2 ? encode_batch(slice, out) : encode_frames(slice, out);
  out.emplace_back(slice.run->bytes() + slice.from.bytes, slice.size.bytes);
  return slice.size.bytes;
}

/// Memory for bytes of our own, kept until they are written.
std::byte* frame_encoder::reserve(std::size_t size) {
  auto* bytes = memory_.reserve(size);
  if (kept_.empty() || kept_.back().get() != memory_.current())
    kept_.push_back(intrusive_ptr<const chunk>::share(memory_.current()));
  return bytes;
}

// -- version 2 ---------------------------------------------------------------------------------

std::size_t frame_encoder::encode_batch(const run_slice& slice,
                                        std::vector<asio::const_buffer>& out) {
  const auto number = number_of(slice.run->topics());
  const auto announced = tell_topics(tables_[number], number, out);
  auto origin = slice.run->origin();
  origin.first_sequence += slice.from.messages;
  auto* header = reserve(wire::batch_header_bytes);
  wire::write_batch_header(header, {number, slice.size.messages, origin}, slice.size.bytes);
  memory_.commit(wire::batch_header_bytes);
  out.emplace_back(header, wire::batch_header_bytes);
  out.emplace_back(slice.run->bytes() + slice.from.bytes, slice.size.bytes);
  return announced + wire::batch_header_bytes + slice.size.bytes;
}

/// Tells the peer the topics it does not know yet; they come before the records that name them.
std::size_t frame_encoder::tell_topics(table_use& use, std::uint16_t number,
                                       std::vector<asio::const_buffer>& out) {
  use.last_use = ++uses_;
  std::size_t total = 0;
  for (const auto size = use.table->size(); use.announced < size;) {
    const auto end = std::min(size, use.announced + most_topics_per_frame);
    const auto frame = wire::make_topics(number, *use.table, use.announced, end, via_);
    use.announced = end;
    auto* bytes = reserve(frame.size());
    std::copy(frame.begin(), frame.end(), bytes);
    memory_.commit(frame.size());
    out.emplace_back(bytes, frame.size());
    total += frame.size();
  }
  return total;
}

std::uint16_t frame_encoder::number_of(const topic_table* topics) {
  if (const auto found = numbers_.find(topics); found != numbers_.end())
    return found->second;
  const auto number = free_number();
  tables_[number] = {.table = intrusive_ptr<const topic_table>::share(topics)};
  numbers_.emplace(topics, number);
  return number;
}

/// A number nobody uses, or that of the table not used for longest: the peer forgets that one when
/// it is told the new one's topics from 0 on.
std::uint16_t frame_encoder::free_number() {
  if (tables_.size() < wire::max_tables) {
    tables_.emplace_back();
    return static_cast<std::uint16_t>(tables_.size() - 1);
  }
  const auto oldest = std::ranges::min_element(tables_, {}, &table_use::last_use);
  numbers_.erase(oldest->table.get());
  return static_cast<std::uint16_t>(oldest - tables_.begin());
}

// -- version 1 ---------------------------------------------------------------------------------

std::size_t frame_encoder::encode_frames(const run_slice& slice,
                                         std::vector<asio::const_buffer>& out) {
  const auto* record = slice.run->bytes() + slice.from.bytes;
  const auto* end = record + slice.size.bytes;
  std::size_t total = 0;
  while (record != end) {
    const auto payload_size = record_payload_size(record);
    const auto topic = slice.run->topics()->at(record_topic(record));
    const auto size = wire::data_frame_bytes(topic.size(), payload_size);
    auto* frame = reserve(size);
    auto* payload =
        wire::write_data_header(frame, self_, topic, payload_size, slice.run->origin().hops_left);
    std::memcpy(payload, record + record_header_bytes, payload_size);
    memory_.commit(size);
    const bool goes_on =
        total > 0 && static_cast<const std::byte*>(out.back().data()) + out.back().size() == frame;
    if (goes_on)
      out.back() = {out.back().data(), out.back().size() + size};
    else
      out.emplace_back(frame, size);
    total += size;
    record += record_header_bytes + payload_size;
  }
  return total;
}

} // namespace pubsub
