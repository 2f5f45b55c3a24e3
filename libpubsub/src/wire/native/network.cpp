// SPDX-License-Identifier: BSD-3-Clause
#include "wire/native/network.hpp"

#include <pubsub/topic.hpp>

#include "base/node_name.hpp"
#include "format/utf8.hpp"
#include "wire/native/batch.hpp"

namespace pubsub::wire {

namespace {

constexpr std::uint8_t whole_bit = 1;
constexpr std::uint8_t relays_bit = 2;
constexpr std::uint8_t named_bit = 4;

using wire::read_field;
bool read_field(byte_reader& in, std::vector<std::string>& prefixes) {
  std::uint32_t count = 0;
  if (!in.read_varbyte(count) || count > in.remaining())
    return false;
  for (; count > 0; --count) {
    std::string_view prefix;
    if (!in.read_string(prefix) || prefix.size() > topic::max_size_bytes)
      return false;
    prefixes.emplace_back(prefix);
  }
  return true;
}

template <class Report, class... More>
std::vector<std::byte> make_report(frame_kind kind, std::uint8_t flags, const Report& x,
                                   const More&... more) {
  if (x.about.whole)
    flags |= whole_bit;
  return make_frame(kind, flags, x.about.node, x.about.incarnation, x.about.number, x.added,
                    x.removed, more...);
}

/// Nothing if the name could not be shown as it is.
bool read_name(byte_reader& in, std::string& to) {
  std::string_view name;
  if (!in.read_string(name) || !is_node_name(name))
    return false;
  to = name;
  return true;
}
bool read_rest(byte_reader& in, std::uint8_t flags, neighbours_report& x) {
  return (flags & named_bit) == 0 || read_name(in, x.name);
}
bool read_rest(byte_reader&, std::uint8_t, filter_report&) {
  return true;
}

template <class Report>
std::optional<Report> parse_report(std::span<const std::byte> frame_payload, std::uint8_t& flags) {
  byte_reader in{frame_payload};
  std::uint8_t kind = 0;
  Report x;
  if (!in.read(kind) || !in.read(flags) || !in.read(x.about.node) ||
      !in.read(x.about.incarnation) || x.about.incarnation > max_number ||
      !in.read(x.about.number) || x.about.number == 0 || x.about.number > max_number ||
      x.about.node.is_nil() || !read_field(in, x.added) || !read_field(in, x.removed) ||
      !read_rest(in, flags, x) || !in.at_end())
    return {};
  x.about.whole = (flags & whole_bit) != 0;
  return x;
}

} // namespace

std::vector<std::byte> make_report(const neighbours_report& report) {
  const std::uint8_t flags = report.relays ? relays_bit : 0;
  if (report.name.empty())
    return make_report(frame_kind::neighbours, flags, report);
  return make_report(frame_kind::neighbours, flags | named_bit, report, report.name);
}

std::vector<std::byte> make_report(const filter_report& report) {
  return make_report(frame_kind::filter, 0, report);
}

std::optional<neighbours_report> parse_neighbours(std::span<const std::byte> frame_payload) {
  std::uint8_t flags = 0;
  auto result = parse_report<neighbours_report>(frame_payload, flags);
  if (result)
    result->relays = (flags & relays_bit) != 0;
  return result;
}

std::optional<filter_report> parse_filter_report(std::span<const std::byte> frame_payload) {
  std::uint8_t flags = 0;
  return parse_report<filter_report>(frame_payload, flags);
}

std::vector<std::byte> make_known() {
  return make_frame(frame_kind::known);
}

// -- how far a filter is known -------------------------------------------------------------------

std::vector<std::byte> make_question(const filter_question& x) {
  return make_frame(frame_kind::question, x.hops_left, x.from, x.to);
}

std::vector<std::byte> make_answer(const filter_answer& x) {
  return make_frame(frame_kind::answer, x.hops_left, x.from, x.to, x.incarnation, x.number);
}

std::optional<filter_question> parse_question(std::span<const std::byte> frame_payload) {
  using x = filter_question;
  return read_frame(frame_payload, &x::hops_left, &x::from, &x::to);
}

std::optional<filter_answer> parse_answer(std::span<const std::byte> frame_payload) {
  using x = filter_answer;
  return read_frame(frame_payload, &x::hops_left, &x::from, &x::to, &x::incarnation, &x::number);
}

// -- what clients ask ----------------------------------------------------------------------------

std::vector<std::byte> make_interest(const topic_interest& x) {
  return make_frame(frame_kind::interest, x.number, x.topic, x.conditions);
}

std::vector<std::byte> make_wanted(const topic_interest& x) {
  return make_frame(frame_kind::wanted, x.number, x.topic, x.conditions);
}

std::optional<topic_interest> parse_interest(std::span<const std::byte> frame_payload) {
  byte_reader in{frame_payload};
  std::uint8_t kind = 0;
  topic_interest x;
  std::string_view topic;
  if (!in.read(kind) || !in.read(x.number) || !in.read_string(topic) ||
      topic.size() > topic::max_size_bytes || !read_field(in, x.conditions) || !in.at_end())
    return {};
  x.topic = topic;
  return x;
}

std::vector<std::byte> make_served(const endpoint_id& by) {
  return make_frame(frame_kind::served, by);
}

std::optional<endpoint_id> parse_served(std::span<const std::byte> frame_payload) {
  byte_reader in{frame_payload};
  std::uint8_t kind = 0;
  endpoint_id by;
  return in.read(kind) && in.read(by) && in.at_end() ? std::optional{by} : std::nullopt;
}

std::vector<std::byte> make_relays(const std::vector<endpoint_id>& all) {
  return make_frame(frame_kind::relays, all);
}

std::optional<std::vector<endpoint_id>> parse_relays(std::span<const std::byte> frame_payload) {
  byte_reader in{frame_payload};
  std::uint8_t kind = 0;
  std::vector<endpoint_id> all;
  if (!in.read(kind) || !read_field(in, all) || !in.at_end() || all.size() > max_relays_named)
    return {};
  return all;
}

// -- retired routes ------------------------------------------------------------------------------

std::vector<std::byte> make_flush(const flush_request& x) {
  return make_frame(frame_kind::flush, x.hops, x.from, x.number, x.to);
}

std::vector<std::byte> make_flushed(const flush_answer& x) {
  return make_frame(frame_kind::flushed, x.hops_left, x.to, x.number, x.from);
}

std::optional<flush_request> parse_flush(std::span<const std::byte> frame_payload) {
  using x = flush_request;
  const auto result = read_frame(frame_payload, &x::hops, &x::from, &x::number, &x::to);
  return result && result->hops < max_hops ? result : std::nullopt;
}

std::optional<flush_answer> parse_flushed(std::span<const std::byte> frame_payload) {
  using x = flush_answer;
  return read_frame(frame_payload, &x::hops_left, &x::to, &x::number, &x::from);
}

} // namespace pubsub::wire
