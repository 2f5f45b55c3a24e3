#include "decoder.hpp"

#include <utility>

namespace flow_monitor {

decode_outcome decoder::decode_one(const captured_frame& frame) {
  const auto link = decode_link(link_type_, frame.bytes, frame.wire_bytes);
  if (const auto* why = std::get_if<skipped>(&link))
    return *why;
  const auto& link_part = std::get<link_frame>(link);

  auto ip = decode_ip(link_part);
  if (const auto* why = std::get_if<skipped>(&ip))
    return *why;
  auto& datagram = std::get<ip_datagram>(ip);
  if (datagram.fragment) {
    const auto whole = fragments_.add(datagram, frame.at);
    if (!whole)
      return held{};
    ip = whole->source.is_v4() ? *whole : walk_extension_headers(*whole);
    if (const auto* why = std::get_if<skipped>(&ip))
      return *why;
    if (datagram.fragment)
      return skipped{skip_reason::malformed, "fragment inside a fragment"};
  }

  auto transport = decode_transport(datagram);
  if (const auto* why = std::get_if<skipped>(&transport))
    return *why;
  auto& result = std::get<packet>(transport);
  result.at = frame.at;
  result.source_l2 = link_part.source;
  result.destination_l2 = link_part.destination;
  return result;
}

decode_outcome decoder::decode(const captured_frame& frame) {
  auto outcome = decode_one(frame);
  if (const auto* why = std::get_if<skipped>(&outcome))
    ++skipped_[static_cast<std::size_t>(why->reason)];
  return outcome;
}

std::uint64_t decoder::skipped_packets(skip_reason reason) const {
  return reason == skip_reason::lost_fragment ? fragments_.lost_packets()
                                              : skipped_[static_cast<std::size_t>(reason)];
}

} // namespace flow_monitor
