#include "reassembly.hpp"

#include <iterator>

namespace flow_monitor {
namespace {

constexpr std::uint32_t max_datagram_bytes = 65535;

} // namespace

void reassembler::forget(partials::iterator which) {
  held_bytes_ -= which->held_bytes;
  held_packets_ -= which->ip_packets;
  index_.erase(which->id);
  partials_.erase(which);
}

void reassembler::give_up(partials::iterator which) {
  lost_packets_ += which->ip_packets;
  forget(which);
}

void reassembler::clear() {
  while (!partials_.empty())
    give_up(partials_.begin());
}

void reassembler::enforce_limits(pubsub::timestamp at) {
  while (!partials_.empty() && at - partials_.front().first_seen > limits_.timeout)
    give_up(partials_.begin());
  while (partials_.size() > limits_.max_datagrams ||
         (held_bytes_ > limits_.max_bytes && !partials_.empty()))
    give_up(partials_.begin());
}

reassembler::partials::iterator reassembler::find_or_open(const ip_datagram& fragment,
                                                          pubsub::timestamp at) {
  // IPv6 identifies a datagram without the protocol (RFC 8200, 4.5), IPv4 with it (RFC 791).
  const std::uint8_t protocol = fragment.source.is_v4() ? fragment.protocol : 0;
  const key id{fragment.source, fragment.destination, fragment.fragment->id, protocol};
  if (const auto found = index_.find(id); found != index_.end())
    return found->second;
  const auto opened = partials_.emplace(partials_.end());
  opened->id = id;
  opened->first_seen = at;
  index_.emplace(id, opened);
  return opened;
}

// False if the fragment contradicts what is there already.
bool reassembler::place(partial& whole, const ip_datagram& fragment) {
  const auto [id, offset, more] = *fragment.fragment;
  const auto bytes = fragment.payload;
  const auto end = offset + static_cast<std::uint32_t>(bytes.size());
  const bool is_cut = bytes.size() < fragment.payload_bytes;
  if (is_cut || bytes.empty() || end > max_datagram_bytes || (more && bytes.size() % 8 != 0))
    return false;
  const auto next = whole.pieces.lower_bound(offset);
  if (next != whole.pieces.end() && next->first == offset)
    return next->second.size() == bytes.size(); // an exact repetition, as the network may make
  if (next != whole.pieces.end() && next->first < end)
    return false;
  if (next != whole.pieces.begin()) {
    const auto& [at, piece] = *std::prev(next);
    if (at + piece.size() > offset)
      return false;
  }
  if (!more && whole.total_bytes)
    return false;
  if (!more)
    whole.total_bytes = end;
  if (offset == 0)
    whole.first_protocol = fragment.protocol;
  whole.pieces.emplace_hint(next, offset, std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
  whole.held_bytes += static_cast<std::uint32_t>(bytes.size());
  return !whole.total_bytes || std::prev(whole.pieces.end())->first < *whole.total_bytes;
}

ip_datagram reassembler::finish(partials::iterator which) {
  whole_.clear();
  for (const auto& [offset, piece] : which->pieces)
    whole_.insert(whole_.end(), piece.begin(), piece.end());
  ip_datagram result;
  result.source = which->id.source;
  result.destination = which->id.destination;
  result.protocol = which->first_protocol;
  result.ip_bytes = which->ip_bytes;
  result.ip_packets = which->ip_packets;
  result.payload = whole_;
  result.payload_bytes = static_cast<std::uint32_t>(whole_.size());
  forget(which);
  return result;
}

std::optional<ip_datagram> reassembler::add(const ip_datagram& fragment, pubsub::timestamp at) {
  enforce_limits(at);
  const auto which = find_or_open(fragment, at);
  const auto held_before = which->held_bytes;
  which->ip_bytes += fragment.ip_bytes;
  which->ip_packets += 1;
  held_packets_ += 1;
  const bool is_consistent = place(*which, fragment);
  held_bytes_ += which->held_bytes - held_before;
  if (!is_consistent) {
    give_up(which);
    return std::nullopt;
  }
  // Pieces never overlap and none lies beyond the end, so equal sums mean nothing is missing.
  if (which->total_bytes == which->held_bytes)
    return finish(which);
  enforce_limits(at);
  return std::nullopt;
}

} // namespace flow_monitor
