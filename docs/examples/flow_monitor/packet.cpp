#include "packet.hpp"

#include "byte_order.hpp"

#include <algorithm>

namespace flow_monitor {
namespace {

// Expects exactly sixteen bytes.
pubsub::address read_v6_address(byte_view sixteen) {
  pubsub::address::bytes_type bytes{};
  std::copy(sixteen.begin(), sixteen.end(), bytes.begin());
  return pubsub::address{bytes};
}

// What the IP header calls the packet's end decides: a link may pad behind it. A length of zero is
// what a capture shows where the network card was left to fill it in; then the frame's length has
// to do.
bool trim_to(link_frame& frame, std::uint32_t ip_bytes) {
  if (ip_bytes > frame.payload_bytes)
    return false;
  frame.payload_bytes = ip_bytes;
  if (frame.payload.size() > ip_bytes)
    frame.payload = frame.payload.first(ip_bytes);
  return true;
}

ip_datagram behind_header(const link_frame& frame, std::uint32_t header_bytes) {
  ip_datagram result;
  result.ip_bytes = frame.payload_bytes;
  result.payload = frame.payload.subspan(header_bytes);
  result.payload_bytes = frame.payload_bytes - header_bytes;
  return result;
}

decoded<ip_datagram> decode_ipv4(link_frame frame) {
  if (frame.payload.size() < 20)
    return too_short(frame.payload_bytes, 20, "IPv4 header");
  const auto head = frame.payload;
  if (head[0] >> 4 != 4)
    return skipped{skip_reason::malformed, "IPv4 version"};
  const std::uint32_t header_bytes = (head[0] & 0x0fU) * 4U;
  if (header_bytes < 20)
    return skipped{skip_reason::malformed, "IPv4 header length"};
  if (head.size() < header_bytes)
    return too_short(frame.payload_bytes, header_bytes, "IPv4 options");
  const std::uint32_t total = read_u16(head, 2);
  if (total != 0 && total < header_bytes)
    return skipped{skip_reason::malformed, "IPv4 length"};
  if (total != 0 && !trim_to(frame, total))
    return skipped{skip_reason::truncated, "IPv4 packet is longer than its frame"};

  ip_datagram result = behind_header(frame, header_bytes);
  result.source = pubsub::address::v4(read_u32(head, 12));
  result.destination = pubsub::address::v4(read_u32(head, 16));
  result.protocol = head[9];
  const std::uint16_t flags = read_u16(head, 6);
  const std::uint32_t offset_bytes = (flags & 0x1fffU) * 8U;
  if ((flags & 0x2000U) != 0 || offset_bytes != 0)
    result.fragment = fragment_fields{read_u16(head, 4), offset_bytes, (flags & 0x2000U) != 0};
  return result;
}

decoded<ip_datagram> decode_ipv6(link_frame frame) {
  if (frame.payload.size() < 40)
    return too_short(frame.payload_bytes, 40, "IPv6 header");
  const auto head = frame.payload;
  if (head[0] >> 4 != 6)
    return skipped{skip_reason::malformed, "IPv6 version"};
  const std::uint32_t length = read_u16(head, 4);
  if (length != 0 && !trim_to(frame, length + 40))
    return skipped{skip_reason::truncated, "IPv6 packet is longer than its frame"};

  ip_datagram result = behind_header(frame, 40);
  result.source = read_v6_address(head.subspan(8, 16));
  result.destination = read_v6_address(head.subspan(24, 16));
  result.protocol = head[6];
  return walk_extension_headers(result);
}

enum ip_protocol : std::uint8_t {
  hop_by_hop = 0,
  routing = 43,
  fragment = 44,
  authentication = 51,
  destination_options = 60,
  mobility = 135,
  host_identity = 139,
  shim6 = 140,
};

bool is_extension(std::uint8_t protocol) {
  switch (protocol) {
  case hop_by_hop:
  case routing:
  case fragment:
  case authentication:
  case destination_options:
  case mobility:
  case host_identity:
  case shim6:
    return true;
  default:
    return false;
  }
}

void advance(ip_datagram& datagram, std::uint32_t header_bytes) {
  datagram.protocol = datagram.payload[0];
  datagram.payload = datagram.payload.subspan(header_bytes);
  datagram.payload_bytes -= header_bytes;
}

// Expects eight bytes or more.
fragment_fields read_fragment_header(byte_view bytes) {
  const std::uint16_t offset = read_u16(bytes, 2);
  return {read_u32(bytes, 4), offset & 0xfff8U, (offset & 1U) != 0};
}

// Expects two bytes or more, of which the first eight are known to be there.
std::uint32_t extension_bytes(std::uint8_t protocol, byte_view bytes) {
  if (protocol == fragment)
    return 8;
  const std::uint32_t units = bytes[1];
  return protocol == authentication ? (units + 2) * 4 : (units + 1) * 8;
}

packet common_part(const ip_datagram& datagram) {
  packet result;
  result.source = datagram.source;
  result.destination = datagram.destination;
  result.protocol = static_cast<transport>(datagram.protocol);
  result.ip_bytes = datagram.ip_bytes;
  result.ip_packets = datagram.ip_packets;
  return result;
}

decoded<packet> decode_tcp(const ip_datagram& datagram) {
  const auto head = datagram.payload;
  if (head.size() < 20)
    return too_short(datagram.payload_bytes, 20, "TCP header");
  const std::uint32_t header_bytes = (head[12] >> 4) * 4U;
  if (header_bytes < 20)
    return skipped{skip_reason::malformed, "TCP header length"};
  if (head.size() < header_bytes)
    return too_short(datagram.payload_bytes, header_bytes, "TCP options");
  packet result = common_part(datagram);
  result.source_port = read_u16(head, 0);
  result.destination_port = read_u16(head, 2);
  const unsigned flags = head[13];
  result.tcp = {read_u32(head, 4),    read_u32(head, 8),    read_u16(head, 14),
                (flags & 0x02U) != 0, (flags & 0x10U) != 0, (flags & 0x01U) != 0,
                (flags & 0x04U) != 0};
  result.payload = head.subspan(header_bytes);
  result.payload_bytes = datagram.payload_bytes - header_bytes;
  return result;
}

decoded<packet> decode_udp(const ip_datagram& datagram) {
  const auto head = datagram.payload;
  if (head.size() < 8)
    return too_short(datagram.payload_bytes, 8, "UDP header");
  std::uint32_t length = read_u16(head, 4);
  if (length == 0)
    length = datagram.payload_bytes; // RFC 2675, and segmentation offload
  if (length < 8 || length > datagram.payload_bytes)
    return skipped{skip_reason::malformed, "UDP length"};
  packet result = common_part(datagram);
  result.source_port = read_u16(head, 0);
  result.destination_port = read_u16(head, 2);
  result.payload = head.subspan(8, std::min<std::size_t>(length, head.size()) - 8);
  result.payload_bytes = length - 8;
  return result;
}

// The message type that answers this one, if there is one.
std::optional<std::uint8_t> answering_type(transport protocol, std::uint8_t type) {
  struct pair {
    std::uint8_t ask, answer;
  };
  static constexpr std::array<pair, 5> v4{{{8, 0}, {13, 14}, {15, 16}, {17, 18}, {10, 9}}};
  static constexpr std::array<pair, 5> v6{
      {{128, 129}, {133, 134}, {135, 136}, {139, 140}, {144, 145}}};
  for (const auto [ask, answer] : protocol == transport::icmp ? v4 : v6) {
    if (type == ask)
      return answer;
    if (type == answer)
      return ask;
  }
  return std::nullopt;
}

decoded<packet> decode_icmp(const ip_datagram& datagram) {
  const auto head = datagram.payload;
  if (head.size() < 8)
    return too_short(datagram.payload_bytes, 8, "ICMP header");
  packet result = common_part(datagram);
  const auto answer = answering_type(result.protocol, head[0]);
  result.source_port = head[0];
  result.destination_port = answer.value_or(head[1]);
  result.is_one_way = !answer;
  result.payload = head.subspan(8);
  result.payload_bytes = datagram.payload_bytes - 8;
  return result;
}

} // namespace

std::string_view to_string(skip_reason reason) {
  switch (reason) {
  case skip_reason::truncated:
    return "truncated";
  case skip_reason::malformed:
    return "malformed";
  case skip_reason::not_ip:
    return "not IP";
  case skip_reason::other_protocol:
    return "other IP protocol";
  case skip_reason::lost_fragment:
    return "incomplete fragments";
  }
  return "unknown";
}

bool is_error(skip_reason reason) {
  return reason == skip_reason::truncated || reason == skip_reason::malformed;
}

decoded<ip_datagram> decode_ip(const link_frame& frame) {
  return frame.ether_type == 0x0800 ? decode_ipv4(frame) : decode_ipv6(frame);
}

decoded<ip_datagram> walk_extension_headers(ip_datagram datagram) {
  constexpr std::string_view what = "IPv6 extension header";
  while (is_extension(datagram.protocol)) {
    const auto bytes = datagram.payload;
    if (bytes.size() < 8)
      return too_short(datagram.payload_bytes, 8, what);
    const std::uint32_t header_bytes = extension_bytes(datagram.protocol, bytes);
    if (bytes.size() < header_bytes)
      return too_short(datagram.payload_bytes, header_bytes, what);
    const bool is_fragment = datagram.protocol == fragment;
    advance(datagram, header_bytes);
    if (!is_fragment)
      continue;
    const auto fields = read_fragment_header(bytes);
    // An "atomic" fragment (RFC 6946), first and last at once, is the whole datagram.
    if (fields.offset_bytes == 0 && !fields.more)
      continue;
    datagram.fragment = fields;
    break;
  }
  return datagram;
}

decoded<packet> decode_transport(const ip_datagram& datagram) {
  switch (datagram.protocol) {
  case static_cast<std::uint8_t>(transport::tcp):
    return decode_tcp(datagram);
  case static_cast<std::uint8_t>(transport::udp):
    return decode_udp(datagram);
  case static_cast<std::uint8_t>(transport::icmp):
  case static_cast<std::uint8_t>(transport::icmp6):
    return decode_icmp(datagram);
  default:
    return skipped{skip_reason::other_protocol, "neither TCP nor UDP nor ICMP"};
  }
}

} // namespace flow_monitor
