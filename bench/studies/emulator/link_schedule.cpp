// SPDX-License-Identifier: BSD-3-Clause
#include "studies/emulator/link_schedule.hpp"

#include <algorithm>
#include <cassert>

namespace emulator {

link_schedule::link_schedule(double bits_per_s, std::chrono::nanoseconds delay,
                             std::size_t piece_bytes)
    : bits_per_s_(bits_per_s), delay_(delay), piece_bytes_(std::max<std::size_t>(piece_bytes, 1)) {}

void link_schedule::enter(time_point now, std::uint64_t connection, std::size_t bytes) {
  assert(bytes > 0);
  append(now, connection, part::bytes, bytes);
}

void link_schedule::enter(time_point now, std::uint64_t connection, part news) {
  assert(news != part::bytes);
  append(now, connection, news, 0);
}

void link_schedule::append(time_point now, std::uint64_t connection, part what, std::size_t bytes) {
  const auto begins = std::max(moment{now}, free_from_);
  free_from_ = begins + time_of(bytes);
  segments_.push_back({connection, what, bytes, begins, free_from_, delay_});
  held_bytes_ += bytes;
}

link_schedule::span link_schedule::time_of(std::size_t bytes) const {
  return span{bits_per_s_ > 0 ? 8e9 * static_cast<double>(bytes) / bits_per_s_ : 0};
}

std::size_t link_schedule::segment::out_by(moment now) const {
  if (now >= ends + delay)
    return bytes;
  if (now <= begins + delay)
    return 0;
  const auto part_of_it = (now - begins - delay) / (ends - begins);
  return std::min(bytes, static_cast<std::size_t>(part_of_it * static_cast<double>(bytes)));
}

std::optional<link_schedule::passed> link_schedule::take(time_point now) {
  if (segments_.empty())
    return std::nullopt;
  auto& first = segments_.front();
  const auto out = first.out_by(now);
  const auto bytes = out - first.taken;
  const bool whole = now >= first.ends + first.delay;
  if (!whole && bytes < piece_bytes_)
    return std::nullopt;
  const passed result{first.connection, first.what, bytes};
  first.taken = out;
  held_bytes_ -= bytes;
  if (whole)
    segments_.pop_front();
  return result;
}

std::optional<link_schedule::time_point> link_schedule::next() const {
  if (segments_.empty())
    return std::nullopt;
  const auto& first = segments_.front();
  auto when = first.ends + first.delay;
  if (const auto wanted = first.taken + piece_bytes_; wanted < first.bytes) {
    const auto part_of_it = (static_cast<double>(wanted) + 0.5) / static_cast<double>(first.bytes);
    when = first.begins + first.delay + (first.ends - first.begins) * part_of_it;
  }
  return std::chrono::ceil<time_point::duration>(when);
}

void link_schedule::change(time_point now, double bits_per_s, std::chrono::nanoseconds delay,
                           std::size_t piece_bytes) {
  bits_per_s_ = bits_per_s;
  delay_ = delay;
  piece_bytes_ = std::max<std::size_t>(piece_bytes, 1);
  free_from_ = now;
  std::deque<segment> all;
  for (auto rest : segments_) {
    if (rest.ends > moment{now}) {
      if (rest.begins < moment{now}) { // cut in two: what has passed, and the rest
        auto before = rest;
        const auto part_of_it = (now - rest.begins) / (rest.ends - rest.begins);
        before.bytes = std::min(
            rest.bytes, static_cast<std::size_t>(part_of_it * static_cast<double>(rest.bytes)));
        before.ends = now;
        before.taken = std::min(before.taken, before.bytes);
        rest.bytes -= before.bytes;
        rest.taken -= before.taken;
        if (before.bytes > before.taken)
          all.push_back(before);
      }
      rest.begins = free_from_;
      rest.ends = free_from_ = rest.begins + time_of(rest.bytes);
      rest.delay = delay_;
    }
    all.push_back(rest);
  }
  segments_ = std::move(all);
}

} // namespace emulator
