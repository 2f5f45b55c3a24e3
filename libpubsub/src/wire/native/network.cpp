#include "wire/native/network.hpp"

#include <pubsub/topic.hpp>

#include "base/byte_reader.hpp"
#include "wire/native/frame_writer.hpp"

namespace pubsub::wire {

namespace {

constexpr std::uint8_t whole_bit = 1;
constexpr std::uint8_t relays_bit = 2;

frame_writer begin_report(frame_kind kind, std::uint8_t flags, const report_header& about) {
  frame_writer out{kind};
  out.add(flags).add(about.node).add(about.incarnation).add(about.number);
  return out;
}

bool read_header(byte_reader& in, std::uint8_t& flags, report_header& about) {
  std::uint8_t kind = 0;
  if (!in.read(kind) || !in.read(flags) || !in.read(about.node) || !in.read(about.incarnation) ||
      !in.read(about.number) || about.number == 0)
    return false;
  about.whole = (flags & whole_bit) != 0;
  return !about.node.is_nil();
}

template <class T>
bool read_field(byte_reader& in, T& out) {
  return in.read(out);
}

bool read_field(byte_reader& in, std::vector<endpoint_id>& out) {
  std::uint32_t count = 0;
  std::span<const std::byte> ids;
  if (!in.read_varbyte(count) || !in.read_bytes(std::size_t{count} * endpoint_id_bytes, ids))
    return false;
  for (; !ids.empty(); ids = ids.subspan(endpoint_id_bytes))
    out.push_back(read_id(ids.data()));
  return true;
}

/// A frame of these fields, one behind the other.
template <class... Fields>
std::vector<std::byte> make_letter(frame_kind kind, const Fields&... fields) {
  frame_writer out{kind};
  (out.add(fields), ...);
  return out.finish();
}

/// The payload as its kind and exactly these fields.
template <class Letter, class... Fields>
std::optional<Letter> read_letter(std::span<const std::byte> frame_payload,
                                  Fields Letter::*... fields) {
  byte_reader in{frame_payload};
  std::uint8_t kind = 0;
  Letter x;
  if (!in.read(kind) || !(read_field(in, x.*fields) && ...) || !in.at_end())
    return {};
  return x;
}

bool read_prefixes(byte_reader& in, std::vector<std::string>& out) {
  std::uint32_t count = 0;
  if (!in.read_varbyte(count) || count > in.remaining())
    return false;
  for (; count > 0; --count) {
    std::string_view prefix;
    if (!in.read_string(prefix) || prefix.size() > topic::max_size_bytes)
      return false;
    out.emplace_back(prefix);
  }
  return true;
}

} // namespace

std::vector<std::byte> make_report(const neighbours_report& report) {
  const auto flags = (report.about.whole ? whole_bit : 0) | (report.relays ? relays_bit : 0);
  auto out = begin_report(frame_kind::neighbours, static_cast<std::uint8_t>(flags), report.about);
  out.add(report.added).add(report.removed);
  return out.finish();
}

std::vector<std::byte> make_report(const filter_report& report) {
  auto out = begin_report(frame_kind::filter, report.about.whole ? whole_bit : 0, report.about);
  out.add(report.added).add(report.removed);
  return out.finish();
}

std::vector<std::byte> make_known() {
  return frame_writer{frame_kind::known}.finish();
}

std::optional<neighbours_report> parse_neighbours(std::span<const std::byte> frame_payload) {
  byte_reader in{frame_payload};
  std::uint8_t flags = 0;
  neighbours_report result;
  if (!read_header(in, flags, result.about) || !read_field(in, result.added) ||
      !read_field(in, result.removed) || !in.at_end())
    return {};
  result.relays = (flags & relays_bit) != 0;
  return result;
}

std::optional<filter_report> parse_filter_report(std::span<const std::byte> frame_payload) {
  byte_reader in{frame_payload};
  std::uint8_t flags = 0;
  filter_report result;
  if (!read_header(in, flags, result.about) || !read_prefixes(in, result.added) ||
      !read_prefixes(in, result.removed) || !in.at_end())
    return {};
  return result;
}

// -- how far a filter is known -------------------------------------------------------------------

std::vector<std::byte> make_question(const filter_question& x) {
  return make_letter(frame_kind::question, x.hops_left, x.from, x.to);
}

std::vector<std::byte> make_answer(const filter_answer& x) {
  return make_letter(frame_kind::answer, x.hops_left, x.from, x.to, x.incarnation, x.number);
}

std::optional<filter_question> parse_question(std::span<const std::byte> frame_payload) {
  using x = filter_question;
  return read_letter(frame_payload, &x::hops_left, &x::from, &x::to);
}

std::optional<filter_answer> parse_answer(std::span<const std::byte> frame_payload) {
  using x = filter_answer;
  return read_letter(frame_payload, &x::hops_left, &x::from, &x::to, &x::incarnation, &x::number);
}

// -- retired routes ------------------------------------------------------------------------------

std::vector<std::byte> make_flush(const flush_request& x) {
  return make_letter(frame_kind::flush, x.hops, x.from, x.number, x.to);
}

std::vector<std::byte> make_flushed(const flush_answer& x) {
  return make_letter(frame_kind::flushed, x.hops_left, x.to, x.number, x.from);
}

std::optional<flush_request> parse_flush(std::span<const std::byte> frame_payload) {
  using x = flush_request;
  const auto result = read_letter(frame_payload, &x::hops, &x::from, &x::number, &x::to);
  return result && result->hops < max_hops ? result : std::nullopt;
}

std::optional<flush_answer> parse_flushed(std::span<const std::byte> frame_payload) {
  using x = flush_answer;
  return read_letter(frame_payload, &x::hops_left, &x::to, &x::number, &x::from);
}

} // namespace pubsub::wire
