#include "link/broker_protocol.hpp"

#include <cstring>

#include "message/record.hpp"
#include "wire/broker/envelope.hpp"

namespace pubsub {

/// The frames of the handshake come first.
void broker_protocol::take(outboxes& from, std::vector<outgoing_slice>& out, std::size_t max_slices,
                           std::size_t max_bytes) {
  take_from(from.control(), 0, out, max_slices, max_bytes);
  take_from(from.out(), 0, out, max_slices, max_bytes);
}

std::size_t broker_protocol::encode_records(const run_slice& slice,
                                            std::vector<asio::const_buffer>& out) {
  const auto* record = slice.run->bytes() + slice.from.bytes;
  const auto* end = record + slice.size.bytes;
  std::size_t total = 0;
  while (record != end) {
    const auto payload_size = record_payload_size(record);
    const auto topic = slice.run->topics()->at(record_topic(record));
    const auto size = wire::data_frame_bytes(topic.size(), payload_size);
    auto* frame = memory_.reserve(size);
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
