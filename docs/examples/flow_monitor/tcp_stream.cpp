#include "tcp_stream.hpp"

#include <algorithm>

namespace flow_monitor {
namespace {

// No window is larger than 1 GiB (RFC 7323), so nothing valid lies further away than that.
constexpr std::int64_t max_window_bytes = std::int64_t{1} << 30;
// Holes beyond this many are taken as filled: memory stays bounded whatever a sender does.
constexpr std::size_t max_ranges = 64;

} // namespace

void tcp_stream::start(std::uint32_t first) {
  if (is_started_ && highest_ > 0)
    return;
  is_started_ = true;
  base_ = first;
}

std::int64_t tcp_stream::offset_of(std::uint32_t seq) const {
  const auto highest_seq = base_ + static_cast<std::uint32_t>(highest_);
  return static_cast<std::int64_t>(highest_) + static_cast<std::int32_t>(seq - highest_seq);
}

// Adds [first, last), which begins at contiguous_ or beyond; true if part of it was there already.
bool tcp_stream::insert(range piece) {
  bool is_overlap = false;
  auto at = std::lower_bound(ahead_.begin(), ahead_.end(), piece,
                             [](const range& x, const range& y) { return x.second < y.first; });
  while (at != ahead_.end() && at->first <= piece.second) {
    is_overlap |= at->first < piece.second && piece.first < at->second;
    piece = {std::min(piece.first, at->first), std::max(piece.second, at->second)};
    at = ahead_.erase(at);
  }
  ahead_.insert(at, piece);
  if (ahead_.front().first == contiguous_ || ahead_.size() > max_ranges) {
    contiguous_ = ahead_.front().second;
    ahead_.erase(ahead_.begin());
  }
  return is_overlap;
}

segment tcp_stream::add_data(std::uint32_t seq, std::uint32_t length_bytes) {
  if (!is_started_)
    start(seq);
  const auto first = offset_of(seq);
  const auto last = first + length_bytes;
  const auto distance = first - static_cast<std::int64_t>(highest_);
  if (distance > max_window_bytes || distance < -max_window_bytes)
    return {segment_kind::impossible, first};
  // Before the start: the middle of a connection whose earlier packets came out of order.
  if (last <= 0)
    return {segment_kind::repeated, first};
  const auto end = static_cast<std::uint64_t>(last);
  highest_ = std::max(highest_, end);
  const bool is_behind = first < static_cast<std::int64_t>(contiguous_);
  if (end <= contiguous_)
    return {segment_kind::repeated, first};
  const auto begin = is_behind ? contiguous_ : static_cast<std::uint64_t>(first);
  const bool is_overlap = insert({begin, end});
  return {is_behind || is_overlap ? segment_kind::repeated : segment_kind::fresh, first};
}

void tcp_stream::add_fin(std::uint32_t seq) {
  if (!is_started_)
    start(seq);
  const auto offset = offset_of(seq);
  const auto distance = offset - static_cast<std::int64_t>(highest_);
  if (offset < 0 || distance > max_window_bytes || distance < -max_window_bytes)
    return;
  fin_offset_ = static_cast<std::uint64_t>(offset);
  highest_ = std::max(highest_, *fin_offset_);
}

std::uint64_t tcp_stream::add_ack(std::uint32_t ack) {
  if (!is_started_) {
    start(ack);
    return 0;
  }
  const auto offset = offset_of(ack);
  if (offset <= 0 || offset - static_cast<std::int64_t>(highest_) > max_window_bytes)
    return 0;
  auto acked = static_cast<std::uint64_t>(offset);
  if (fin_offset_ && acked > *fin_offset_) {
    is_fin_acked_ = true;
    acked = *fin_offset_;
  }
  // One beyond all that was seen is more likely a FIN that passed unseen than a single byte.
  if (acked <= contiguous_ || (acked == highest_ + 1 && ahead_.empty()))
    return 0;
  std::uint64_t missed = 0;
  while (contiguous_ < acked) {
    if (ahead_.empty() || ahead_.front().first >= acked) {
      missed += acked - contiguous_;
      contiguous_ = acked;
    } else {
      missed += ahead_.front().first - contiguous_;
      contiguous_ = ahead_.front().second;
      ahead_.erase(ahead_.begin());
    }
  }
  if (!ahead_.empty() && ahead_.front().first == contiguous_) {
    contiguous_ = ahead_.front().second;
    ahead_.erase(ahead_.begin());
  }
  highest_ = std::max(highest_, contiguous_);
  return missed;
}

std::uint64_t tcp_stream::size_bytes() const {
  return highest_;
}

} // namespace flow_monitor
