// Frames as a program of steps spells them, and a reader of those that the node writes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "fuzz/check.hpp"
#include "fuzz/node_program.hpp"

#include "base/byte_writer.hpp"
#include "support/fake_node.hpp"
#include "wire/broker/envelope.hpp"
#include "wire/native/inquiry.hpp"
#include "wire/native/network.hpp"

#include <array>
#include <map>
#include <optional>
#include <tuple>

namespace pubsub::fuzz {

using test::buffer;

inline constexpr std::size_t most_in_list = 20;
inline constexpr std::size_t longest_text = 70'000; // more than a topic may have
inline constexpr std::uint32_t magic = 0x5A45454B;

// -- what programs name ------------------------------------------------------------------------

template <class T, std::size_t N>
inline const T& one_of(const T (&all)[N], std::uint8_t n) {
  return all[n % N];
}
inline endpoint_id read_id(program_reader& in) {
  return one_of(node_ids, in.byte());
}
inline std::vector<endpoint_id> read_ids(program_reader& in) {
  std::vector<endpoint_id> result(in.byte() % most_in_list);
  for (auto& each : result)
    each = read_id(in);
  return result;
}
inline std::string read_topic(program_reader& in) {
  return std::string{one_of(node_topics, in.byte())};
}
inline std::vector<std::string> read_topics(program_reader& in) {
  std::vector<std::string> result(in.byte() % most_in_list);
  for (auto& each : result)
    each = read_topic(in);
  return result;
}
/// About a node, or a trace of a topic to some.
inline wire::inquiry read_inquiry(program_reader& in) {
  wire::inquiry result{.number = in.count_of<std::uint32_t>()};
  result.subject = static_cast<wire::inquiry_subject>(1 + in.byte() % 3);
  result.hops_left = in.byte();
  result.time_left = std::chrono::milliseconds{in.byte()};
  if (result.subject != wire::inquiry_subject::trace) {
    result.node = read_id(in);
    return result;
  }
  result.topic = read_topic(in);
  for (const auto& each : read_ids(in))
    result.destinations.push_back({each, destination::addressed, {}});
  return result;
}

/// A small integer, a text of some length, or bytes that may be no value.
inline buffer read_value(program_reader& in) {
  const auto first = in.byte();
  if (first == 0xff) {
    const auto bytes = in.bytes(in.byte());
    return {bytes.begin(), bytes.end()};
  }
  const data value =
      first == 0xfe ? data{std::string(in.count() % longest_text, 'x')} : data{std::int64_t{first}};
  buffer result(encoded_size(value));
  encode(value, result.data());
  return result;
}

inline report_header read_header(program_reader& in) {
  report_header result;
  result.node = read_id(in);
  result.incarnation = in.count();
  result.number = in.count();
  result.whole = (in.byte() & 1) != 0;
  return result;
}

inline buffer ping_payload(std::uint8_t kind) {
  const std::string_view texts[] = {"BYE12345678", "HERE", "", "ASK\0\0\0\1"};
  const auto bytes = std::as_bytes(std::span{one_of(texts, kind)});
  return {bytes.begin(), bytes.end()};
}

// -- frames ------------------------------------------------------------------------------------

template <class... Fields>
inline buffer handshake_frame(std::uint8_t tag, const Fields&... fields) {
  byte_writer out;
  out.add(tag);
  (out.add(fields), ...);
  return wire::make_frame(out.take());
}

inline buffer make_message(program_reader& in) {
  const auto sender = read_id(in);
  const auto receiver = read_id(in);
  const auto hops_left = in.count_of<std::uint16_t>();
  const auto topic = read_topic(in);
  const auto value = read_value(in);
  buffer frame(wire::data_frame_bytes(topic.size(), value.size()));
  std::ranges::copy(value, wire::write_data_header(frame.data(), sender, topic, value.size(),
                                                   hops_left, receiver));
  return frame;
}

inline buffer make_topics(program_reader& in) {
  const auto table = in.count_of<std::uint16_t>();
  const auto first = in.byte();
  const auto texts = read_topics(in);
  auto nodes = std::make_shared<destinations_by_link>();
  nodes->push_back({&in, {}});
  for (const auto& each : read_ids(in))
    nodes->front().nodes.push_back({each, prefix_index<remote_target>::whenever});
  const auto all = topic_table::make(topic_table::max_topics);
  for (std::size_t n = 0; n < first; ++n)
    all->add("before", nodes);
  for (const auto& each : texts)
    if (!all->full())
      all->add(each, nodes);
  return wire::make_topics(table, *all, first, all->size(), &in);
}

inline buffer make_batch(program_reader& in) {
  wire::batch_header header;
  header.table = in.count_of<std::uint16_t>();
  header.origin.endpoint = read_id(in);
  header.origin.stream = in.count_of<std::uint32_t>();
  header.origin.first_sequence = in.count();
  header.origin.hops_left = in.byte();
  header.messages = in.byte() % most_in_list;
  buffer records;
  for (std::uint32_t n = 0; n < header.messages; ++n) {
    const auto topic = in.byte();
    const auto value = read_value(in);
    std::byte head[record_header_bytes];
    write_record_header(head, static_cast<std::uint32_t>(value.size()), topic);
    records.insert(records.end(), std::begin(head), std::end(head));
    records.insert(records.end(), value.begin(), value.end());
  }
  buffer frame(wire::batch_header_bytes + records.size());
  wire::write_batch_header(frame.data(), header, records.size());
  std::ranges::copy(records, frame.begin() + wire::batch_header_bytes);
  return frame;
}

// -- what the node writes ----------------------------------------------------------------------

/// Follows what one peer reads.
class written_frames {
public:
  /// The frame can be read by the peer of a link of this version.
  void check_one(std::span<const std::byte> frame, std::uint8_t version) {
    const auto payload = frame.subspan(wire::frame_header_bytes);
    if ((load_be<std::uint32_t>(frame.data()) & wire::batch_flag) != 0) {
      check(version == 2, "flagged frames are for peers of version 2");
      check(is_readable(payload), "a flagged frame can be read");
    } else if (payload.empty() || std::to_integer<int>(payload[0]) > 12) {
      const auto envelope = wire::parse_envelope(payload);
      check(envelope && envelope->sender == node_id, "an envelope can be read, and is the node's");
    } else {
      check(std::to_integer<int>(payload[0]) >= 6, "other frames are of the handshake");
    }
  }

private:
  bool is_readable(std::span<const std::byte> payload) {
    const auto kind = wire::kind_of(payload);
    if (!kind)
      return false;
    switch (*kind) {
    case wire::frame_kind::records:
      return knows_topics(payload);
    case wire::frame_kind::topics:
      return learns_topics(payload);
    case wire::frame_kind::inquiry:
      return wire::parse_inquiry(payload).has_value();
    case wire::frame_kind::reply:
      return wire::parse_reply(payload).has_value();
    case wire::frame_kind::neighbours:
      return wire::parse_neighbours(payload).has_value();
    case wire::frame_kind::filter:
      return wire::parse_filter_report(payload).has_value();
    case wire::frame_kind::known:
      return payload.size() == 1;
    case wire::frame_kind::credit:
      return wire::parse_credit(payload).has_value();
    case wire::frame_kind::question:
      return wire::parse_question(payload).has_value();
    case wire::frame_kind::answer:
      return wire::parse_answer(payload).has_value();
    case wire::frame_kind::flush:
      return wire::parse_flush(payload).has_value();
    case wire::frame_kind::flushed:
      return wire::parse_flushed(payload).has_value();
    case wire::frame_kind::interest:
    case wire::frame_kind::wanted:
      return wire::parse_interest(payload).has_value();
    case wire::frame_kind::served:
      return wire::parse_served(payload).has_value();
    case wire::frame_kind::relays:
      return wire::parse_relays(payload).has_value();
    case wire::frame_kind::entry:
      return wire::parse_entry(payload).has_value();
    }
    return false;
  }
  bool learns_topics(std::span<const std::byte> payload) {
    const auto news = wire::parse_topics(payload);
    if (!news)
      return false;
    auto& size = tables_[news->table];
    if (news->first != 0 && news->first != size)
      return false;
    size = news->first + news->topics.size();
    return true;
  }
  bool knows_topics(std::span<const std::byte> payload) const {
    const auto batch = wire::parse_batch(payload);
    if (!batch)
      return false;
    const auto table = tables_.find(batch->header.table);
    return table != tables_.end() &&
           wire::check_records(batch->records, batch->header.messages, table->second) !=
               wire::records_check::malformed;
  }

  std::map<std::uint16_t, std::size_t> tables_; // how many topics are announced
};

} // namespace pubsub::fuzz
