// SPDX-License-Identifier: BSD-3-Clause
#include "filter/encoded_record.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/bytes.hpp"
#include "data/encoded.hpp"
#include "data/real_bits.hpp"

namespace pubsub::conditions {

namespace {

constexpr std::string_view announcement = "log_fields";

/// How an event begins: version 1 and type 1, both counts.
constexpr std::array<std::uint8_t, 18> event_head{2, 0, 0, 0, 0, 0, 0, 0, 1,
                                                  2, 0, 0, 0, 0, 0, 0, 0, 1};

bool is_tag(std::byte x) noexcept {
  return static_cast<std::size_t>(x) < body_size.size();
}
std::size_t size_of_body(const std::byte* at) noexcept {
  return body_size[static_cast<std::size_t>(*at)];
}
bool is_text(data_type x) noexcept {
  return x == data_type::string || x == data_type::enum_value;
}

/// Of a type whose values have 8 bytes.
look load_number(data_type type, const std::byte* body, scalar& out) noexcept {
  out.kind = scalar_kind::number;
  out.bits = load_be<std::uint64_t>(body);
  if (type == data_type::real) {
    out.is_real = true;
    out.real = decode_real(std::exchange(out.bits, 0));
    return std::isnan(out.real) ? look::absent : look::yes;
  }
  if (type == data_type::integer)
    out.negative = static_cast<std::int64_t>(out.bits) < 0;
  else if (type != data_type::count)
    out.kind = type == data_type::timestamp ? scalar_kind::moment : scalar_kind::duration;
  return look::yes;
}

} // namespace

look encoded_record::skip(const std::byte*& at) noexcept {
  for (std::uint64_t pending = 1; pending > 0; --pending) {
    if (at == end_ || !is_tag(*at))
      return look::unreadable;
    if (steps_left_ == 0)
      return look::unknown;
    --steps_left_;
    const auto type = tag_at(at);
    std::size_t size = size_of_body(at++);
    if (size == variable_size) {
      std::uint32_t count = 0;
      if (load_varbyte(at, end_, count) != varbyte_result::ok)
        return look::unreadable;
      size = is_text(type) ? count : 0;
      const std::uint64_t inside =
          is_text(type) ? 0 : count * std::uint64_t{type == data_type::table ? 2U : 1U};
      if (inside > left(at)) // each value takes a byte at least
        return look::unreadable;
      pending += inside;
    }
    if (size > left(at))
      return look::unreadable;
    at += size;
  }
  return look::yes;
}

look encoded_record::string_at(const std::byte* at, std::string_view& out) const noexcept {
  std::uint32_t size = 0;
  if (++at > end_ || load_varbyte(at, end_, size) != varbyte_result::ok || size > left(at))
    return look::unreadable;
  out = {reinterpret_cast<const char*>(at), size};
  return look::yes;
}

look encoded_record::load(const std::byte* at, scalar& out) const noexcept {
  if (at == end_ || !is_tag(*at))
    return look::unreadable;
  const auto type = tag_at(at);
  if (is_text(type)) {
    out.kind = type == data_type::string ? scalar_kind::text : scalar_kind::label;
    return string_at(at, out.text);
  }
  const auto* const body = at + 1;
  const auto size = size_of_body(at);
  if (size == variable_size || size == 0)
    return look::absent;
  if (size > left(body))
    return look::unreadable;
  if (size == 8)
    return load_number(type, body, out);
  switch (type) {
  case data_type::boolean:
    out.kind = scalar_kind::truth;
    out.bits = *body != std::byte{0};
    return look::yes;
  case data_type::port:
    out.kind = scalar_kind::service;
    out.bits = load_be<std::uint16_t>(body) << 8U | static_cast<std::uint64_t>(body[2]);
    return body[2] > std::byte{3} ? look::unreadable : look::yes;
  default:
    out.kind = type == data_type::address ? scalar_kind::host : scalar_kind::network;
    out.raw = body;
    return look::yes;
  }
}

look encoded_record::open_container(const std::byte* at, members& out,
                                    bool& is_table) const noexcept {
  if (at == end_ || !is_tag(*at))
    return look::unreadable;
  const auto type = tag_at(at);
  is_table = type == data_type::table;
  if (type != data_type::vector && type != data_type::set && !is_table)
    return look::absent;
  ++at;
  if (load_varbyte(at, end_, out.count) != varbyte_result::ok || out.count > left(at))
    return look::unreadable;
  out.first = at;
  return look::yes;
}

look encoded_record::open_vector(const std::byte* at, members& out) const noexcept {
  if (at == end_)
    return look::unreadable;
  bool is_table = false;
  const auto there = open_container(at, out, is_table);
  return there == look::yes && tag_at(at) != data_type::vector ? look::absent : there;
}

/// `yes` for an event; everything else is an ordinary vector.
look encoded_record::find_event(members all, members& content) noexcept {
  const auto at_hand = std::min(left(all.first), event_head.size());
  if (all.count < 3 || std::memcmp(all.first, event_head.data(), at_hand) != 0)
    return look::absent;
  if (left(all.first) <= event_head.size())
    return look::unreadable;
  if (const auto there = open_vector(all.first + event_head.size(), content); there != look::yes)
    return there;
  if (content.count < 2)
    return look::absent;
  if (content.first == end_)
    return look::unreadable;
  if (tag_at(content.first) != data_type::string)
    return look::absent;
  if (string_at(content.first, event_) != look::yes)
    return look::unreadable;
  const auto* behind_name = reinterpret_cast<const std::byte*>(event_.data() + event_.size());
  return open_vector(behind_name, arguments_);
}

look encoded_record::look_for_shape() noexcept {
  shape_ = open_vector(first_, record_);
  if (shape_ != look::yes)
    return shape_;
  const auto whole = record_;
  members content;
  const auto event = find_event(record_, content);
  if (event == look::unreadable)
    return shape_ = event;
  is_event_ = event == look::yes;
  if (is_event_)
    record_ = arguments_;
  members columns;
  if (is_event_ && event_.starts_with(log_event_prefix) && arguments_.count == 1) {
    const auto log = open_vector(arguments_.first, columns);
    if (log == look::unreadable)
      return shape_ = log;
    if (log == look::yes) {
      record_ = columns;
      note_shape(std::max({room_for(whole), room_for(content), room_for(columns)}));
    }
  }
  reached_at_ = record_.first;
  return shape_;
}

/// So many bytes a message must have at least: each of these takes one.
std::size_t encoded_record::room_for(const members& all) const noexcept {
  return static_cast<std::size_t>(all.first - first_) + all.count;
}

/// Of the record of a log.
void encoded_record::note_shape(std::size_t least_bytes) noexcept {
  const auto head_bytes = static_cast<std::size_t>(record_.first - first_);
  if (last_ == nullptr || head_bytes > record_shape::max_bytes)
    return;
  auto& x = *last_;
  std::copy(first_, record_.first, x.head_.begin());
  x.head_bytes_ = head_bytes;
  x.least_bytes_ = least_bytes;
  x.event_at_ =
      static_cast<std::size_t>(reinterpret_cast<const std::byte*>(event_.data()) - first_);
  x.event_bytes_ = event_.size();
  x.columns_ = record_.count;
}

look encoded_record::event_name(std::string_view& out) noexcept {
  const auto shape = find_shape();
  if (shape != look::yes)
    return shape;
  out = as_before_ ? std::string_view{reinterpret_cast<const char*>(first_ + last_->event_at_),
                                      last_->event_bytes_}
                   : event_;
  return is_event_ ? look::yes : look::absent;
}

/// Moves behind a value of few bytes and no members. False, and does not move, if it is another or
/// goes on behind the end.
inline bool encoded_record::pass_short(const std::byte*& at) const noexcept {
  const auto room = left(at);
  const auto pass = [&](std::size_t bytes) {
    if (bytes > room)
      return false;
    at += bytes;
    return true;
  };
  // Branches, not a table of sizes: values of most records are of the same types, so the processor
  // goes on to the next before it has the type of this one.
  switch (tag_at(at)) {
  case data_type::none:
    return pass(1);
  case data_type::boolean:
    return pass(1 + 1);
  case data_type::count:
  case data_type::integer:
  case data_type::real:
  case data_type::timestamp:
  case data_type::timespan:
    return pass(1 + 8);
  case data_type::string:
  case data_type::enum_value:
    return room > 1 && (at[1] & std::byte{0x80}) == std::byte{0} &&
           pass(2 + static_cast<std::size_t>(at[1]));
  case data_type::address:
    return pass(1 + 16);
  case data_type::subnet:
    return pass(1 + 17);
  case data_type::port:
    return pass(1 + 3);
  default:
    return false;
  }
}

/// Goes on to that place, or to the first value that is not short.
inline void encoded_record::pass_short_members(std::uint32_t place) noexcept {
  const auto* at = reached_at_;
  const auto most = std::min<std::size_t>(place - reached_, steps_left_);
  auto left = most;
  while (left > 0 && at != end_ && pass_short(at))
    --left;
  reached_at_ = at;
  reached_ += static_cast<std::uint32_t>(most - left);
  steps_left_ -= most - left;
}

look encoded_record::member(std::uint32_t place, const std::byte*& at) noexcept {
  if (const auto shape = find_shape(); shape != look::yes)
    return shape;
  if (place >= record_.count)
    return look::absent;
  if (place < reached_) {
    reached_ = 0;
    reached_at_ = record_.first;
  }
  pass_short_members(place);
  for (; reached_ < place; ++reached_)
    if (const auto there = skip(reached_at_); there != look::yes) {
      reached_ = 0;
      reached_at_ = record_.first;
      return there;
    }
  at = reached_at_;
  return at == end_ ? look::unreadable : look::yes;
}

look encoded_record::member_of_members(std::span<const std::uint16_t> path,
                                       const std::byte*& at) noexcept {
  auto there = member(path.front(), at);
  for (const auto place : path.subspan(1)) {
    members inside;
    if (there != look::yes || (there = open_vector(at, inside)) != look::yes)
      return there;
    if (place >= inside.count)
      return look::absent;
    at = inside.first;
    for (auto left = place; left > 0; --left)
      if ((there = skip(at)) != look::yes)
        return there;
    if (at == end_)
      return look::unreadable;
  }
  return there;
}

look encoded_record::whole(const std::byte*& at) const noexcept {
  at = first_;
  return first_ == end_ ? look::unreadable : look::yes;
}

bool encoded_record::announces_columns(std::string_view& path, members& columns) noexcept {
  if (find_shape() != look::yes || as_before_ || !is_event_ ||
      event_.size() != announcement.size() || event_ != announcement || arguments_.count != 2 ||
      arguments_.first == end_ || tag_at(arguments_.first) != data_type::string ||
      string_at(arguments_.first, path) != look::yes)
    return false;
  return open_vector(reinterpret_cast<const std::byte*>(path.data() + path.size()), columns) ==
         look::yes;
}

} // namespace pubsub::conditions
