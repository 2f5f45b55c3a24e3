// SPDX-License-Identifier: BSD-3-Clause
#include "wire/native/batch.hpp"

#include <cstring>
#include <iterator>

#include "message/record.hpp"
#include "route/reports.hpp"

namespace pubsub::wire {

namespace {

/// As a filter number: the message is addressed to a client of the node, whose id follows.
constexpr auto addressed_to_client = destination::addressed - 1;

} // namespace

void write_destination(frame_writer& out, const destination& x) {
  if (x.client.is_nil())
    out.add(x.node).add(x.filter_number);
  else
    out.add(x.node).add(addressed_to_client).add(x.client);
}

bool read_destination(byte_reader& in, destination& x) {
  if (!in.read(x.node) || !in.read(x.filter_number))
    return false;
  if (x.filter_number != addressed_to_client)
    return true;
  x.filter_number = destination::addressed;
  return in.read(x.client) && !x.client.is_nil();
}

bool names_a_node_twice(const std::vector<destination>& all) {
  std::vector<endpoint_id> ids;
  std::ranges::transform(all, std::back_inserter(ids), &destination::node);
  std::ranges::sort(ids);
  return std::ranges::adjacent_find(ids) != ids.end();
}

void write_batch_header(std::byte* out, const batch_header& header,
                        std::size_t records_bytes) noexcept {
  const auto length = batch_header_bytes - frame_header_bytes + records_bytes;
  out = store_be(out, batch_flag | static_cast<std::uint32_t>(length));
  *out++ = static_cast<std::byte>(frame_kind::records);
  *out++ = static_cast<std::byte>(header.origin.hops_left);
  out = store_be(out, header.table);
  out = store_be(out, header.messages);
  out = store_be(out, header.origin.stream);
  out = store_be(out, header.origin.first_sequence);
  std::memcpy(out, header.origin.endpoint.bytes().data(), 16);
}

std::vector<std::byte> make_topics(std::uint16_t table, const topic_table& from, std::size_t first,
                                   std::size_t end, const void* via) {
  static const destinations_by_link none;
  frame_writer out{frame_kind::topics};
  out.add(static_cast<std::uint8_t>(first)).add(table);
  for (auto number = first; number < end; ++number) {
    const auto* all = from.destinations_at(number);
    out.add(from.at(number));
    const auto nodes = nodes_via(all != nullptr ? *all : none, via);
    out.add_count(nodes.size());
    for (const auto& each : nodes)
      write_destination(out, each);
  }
  return out.finish();
}

std::optional<batch_view> parse_batch(std::span<const std::byte> frame_payload) noexcept {
  constexpr auto header_size = batch_header_bytes - frame_header_bytes;
  if (frame_payload.size() < header_size)
    return {};
  const auto* pos = frame_payload.data();
  const batch_header header{.table = load_be<std::uint16_t>(pos + 2),
                            .messages = load_be<std::uint32_t>(pos + 4),
                            .origin = {.endpoint = read_id(pos + 20),
                                       .stream = load_be<std::uint32_t>(pos + 8),
                                       .first_sequence = load_be<std::uint64_t>(pos + 12),
                                       .hops_left = static_cast<std::uint8_t>(pos[1])}};
  if (header.table >= max_tables || header.messages == 0 || header.origin.hops_left > max_hops ||
      header.messages > message_run::max_messages || header.origin.first_sequence > max_number)
    return {};
  return batch_view{header, frame_payload.subspan(header_size)};
}

std::optional<topics_news> parse_topics(std::span<const std::byte> frame_payload) {
  byte_reader in{frame_payload};
  std::uint8_t kind = 0;
  topics_news result;
  if (!in.read(kind) || !in.read(result.first) || !in.read(result.table) ||
      result.table >= max_tables)
    return {};
  while (!in.at_end()) {
    std::string_view topic;
    std::uint32_t nodes = 0;
    if (!in.read_string(topic) || !in.read_varbyte(nodes) ||
        std::size_t{nodes} * endpoint_id_bytes > in.remaining() ||
        result.first + result.topics.size() >= topic_table::max_topics)
      return {};
    auto& fresh = result.topics.emplace_back(announced_topic{std::string{topic}, {}});
    fresh.destinations.resize(nodes);
    for (auto& each : fresh.destinations)
      if (!read_destination(in, each))
        return {};
    if (fresh.destinations.size() > 1 && names_a_node_twice(fresh.destinations))
      return {};
  }
  return result;
}

std::vector<std::byte> make_entry(const entry_news& x) {
  return make_frame(frame_kind::entry, x.table, x.relay);
}

std::optional<entry_news> parse_entry(std::span<const std::byte> frame_payload) {
  const auto result = read_frame(frame_payload, &entry_news::table, &entry_news::relay);
  return result && result->table < max_tables && !result->relay.is_nil() ? result : std::nullopt;
}

std::vector<std::byte> make_credit(credit x) {
  return make_frame(frame_kind::credit, x.hops, x.bytes);
}

std::optional<credit> parse_credit(std::span<const std::byte> frame_payload) noexcept {
  const auto result = read_frame(frame_payload, &credit::hops, &credit::bytes);
  return result && result->hops < max_hops ? result : std::nullopt;
}

records_check check_records(std::span<const std::byte> records, std::uint32_t messages,
                            std::size_t topics) noexcept {
  const auto* pos = records.data();
  auto left = records.size();
  std::uint8_t first = 0;
  unsigned differences = 0;
  for (std::uint32_t n = 0; n < messages; ++n) {
    if (left < record_header_bytes)
      return records_check::malformed;
    const auto size = record_bytes(pos);
    const auto topic = record_topic(pos);
    prefetch_records_behind(pos, size);
    if (size > left || topic >= topics)
      return records_check::malformed;
    first = n == 0 ? topic : first;
    differences |= static_cast<unsigned>(topic ^ first);
    pos += size;
    left -= size;
  }
  if (left > 0)
    return records_check::malformed;
  return differences == 0 ? records_check::one_topic : records_check::several_topics;
}

} // namespace pubsub::wire
