// SPDX-License-Identifier: BSD-3-Clause
#include "wire/native/inquiry.hpp"

#include <utility>

#include <pubsub/topic.hpp>

#include "base/printable.hpp"
#include "route/reports.hpp"

namespace pubsub {

std::string_view to_string(trace_outcome x) noexcept {
  switch (x) {
  case trace_outcome::reached:
    return "reached";
  case trace_outcome::broker_peer:
    return "broker_peer";
  case trace_outcome::refused:
    return "refused";
  case trace_outcome::out_of_reach:
    return "out_of_reach";
  case trace_outcome::no_answer:
    return "no_answer";
  }
  return "unknown";
}

namespace wire {

namespace {

std::string_view shortened(std::string_view text) noexcept {
  return text.substr(0, max_reason_bytes);
}

bool is_in_order(const inquiry& x) noexcept {
  const bool is_trace = x.subject == inquiry_subject::trace;
  return x.hops_left >= 1 && x.hops_left <= max_hops && x.node.is_nil() == is_trace &&
         (is_trace || (x.topic.empty() && x.destinations.empty()));
}

bool read_text(byte_reader& in, std::string& out) {
  std::string_view text;
  if (!in.read_string(text) || text.size() > max_reason_bytes)
    return false;
  out = printable(text);
  return true;
}

bool read_hop(byte_reader& in, trace_hop& out) {
  std::uint8_t outcome = 0;
  std::uint32_t round_trip = 0, remarks = 0;
  if (!in.read(out.node) || !read_text(in, out.name) || !in.read(out.from) || !in.read(outcome) ||
      outcome > static_cast<std::uint8_t>(trace_outcome::no_answer) || !in.read(round_trip) ||
      !in.read(out.queued) || !in.read(out.subscribers) || !in.read(out.waiting) ||
      !in.read_varbyte(remarks) || remarks > max_remarks)
    return false;
  out.outcome = static_cast<trace_outcome>(outcome);
  out.round_trip = std::chrono::microseconds{round_trip};
  out.remarks.resize(remarks);
  return std::ranges::all_of(out.remarks, [&](std::string& each) { return read_text(in, each); });
}

} // namespace

std::vector<std::byte> make_inquiry(const inquiry& x) {
  frame_writer out{frame_kind::inquiry};
  out.add(x.number)
      .add(static_cast<std::uint8_t>(x.subject))
      .add(x.hops_left)
      .add(static_cast<std::uint32_t>(x.time_left.count()))
      .add(x.max_bytes)
      .add(x.node);
  if (x.subject == inquiry_subject::trace) {
    out.add(std::string_view{x.topic}).add_count(x.destinations.size());
    for (const auto& each : x.destinations)
      write_destination(out, each);
  }
  return out.finish();
}

std::optional<inquiry> parse_inquiry(std::span<const std::byte> frame_payload) {
  byte_reader in{frame_payload};
  std::uint8_t kind = 0, subject = 0;
  std::uint32_t time_left = 0, destinations = 0;
  std::string_view topic;
  inquiry x;
  if (!in.read(kind) || kind != static_cast<std::uint8_t>(frame_kind::inquiry) ||
      !in.read(x.number) || !in.read(subject) || subject < 1 || subject > 3 ||
      !in.read(x.hops_left) || !in.read(time_left) || !in.read(x.max_bytes) || !in.read(x.node))
    return {};
  x.subject = static_cast<inquiry_subject>(subject);
  x.time_left = std::chrono::milliseconds{time_left};
  if (x.subject == inquiry_subject::trace) {
    if (!in.read_string(topic) || topic.size() > topic::max_size_bytes ||
        !in.read_varbyte(destinations) ||
        std::size_t{destinations} * endpoint_id_bytes > in.remaining())
      return {};
    x.topic = topic;
    x.destinations.resize(destinations);
    if (!std::ranges::all_of(x.destinations,
                             [&](auto& each) { return read_destination(in, each); }) ||
        names_a_node_twice(x.destinations))
      return {};
  }
  return in.at_end() && is_in_order(x) ? std::optional{std::move(x)} : std::nullopt;
}

std::vector<std::byte> make_reply(const reply& x) {
  const std::string_view body =
      x.outcome == reply_outcome::answer ? std::string_view{x.body} : shortened(x.body);
  frame_writer out{frame_kind::reply};
  out.add(x.number)
      .add(static_cast<std::uint8_t>(x.outcome))
      .add(static_cast<std::uint32_t>(x.spent.count()))
      .add_bytes(std::as_bytes(std::span{body}));
  return out.finish();
}

std::optional<reply> parse_reply(std::span<const std::byte> frame_payload) {
  byte_reader in{frame_payload};
  std::uint8_t kind = 0, outcome = 0;
  std::uint32_t spent = 0;
  reply x;
  if (!in.read(kind) || kind != static_cast<std::uint8_t>(frame_kind::reply) ||
      !in.read(x.number) || !in.read(outcome) ||
      outcome > static_cast<std::uint8_t>(reply_outcome::lost) || !in.read(spent))
    return {};
  x.outcome = static_cast<reply_outcome>(outcome);
  x.spent = std::chrono::microseconds{spent};
  const auto rest = in.rest();
  const std::string_view body{reinterpret_cast<const char*>(rest.data()), rest.size()};
  const bool is_answer = x.outcome == reply_outcome::answer;
  if (body.size() > (is_answer ? max_reply_bytes : max_reason_bytes))
    return {};
  x.body = is_answer ? std::string{body} : printable(body);
  return x;
}

// -- the hops of a trace --------------------------------------------------------------------------

std::string write_hops(std::span<const trace_hop> hops, std::size_t max_bytes) {
  std::string result;
  for (const auto& each : hops) {
    byte_writer out;
    const auto remarks = std::min(each.remarks.size(), max_remarks);
    out.add(each.node)
        .add(shortened(each.name))
        .add(each.from)
        .add(static_cast<std::uint8_t>(each.outcome))
        .add(static_cast<std::uint32_t>(each.round_trip.count()))
        .add(each.queued)
        .add(each.subscribers)
        .add(each.waiting)
        .add_count(remarks);
    for (std::size_t i = 0; i < remarks; ++i)
      out.add(shortened(each.remarks[i]));
    const auto bytes = out.take();
    if (result.size() + bytes.size() > max_bytes)
      break;
    result.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return result;
}

std::optional<std::vector<trace_hop>> read_hops(std::string_view body) {
  byte_reader in{std::as_bytes(std::span{body})};
  std::vector<trace_hop> result;
  while (!in.at_end())
    if (result.size() >= max_traced_hops || !read_hop(in, result.emplace_back()))
      return {};
  return result;
}

} // namespace wire

} // namespace pubsub
