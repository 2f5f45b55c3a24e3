#include "packet.hpp"

#include "byte_order.hpp"

#include <algorithm>

namespace flow_monitor {
namespace {

// libpcap's DLT_ numbers, spelled out so that this file needs no libpcap.
enum link_type : int {
  dlt_null = 0,
  dlt_ethernet = 1,
  dlt_raw = 12,
  dlt_raw_on_openbsd = 14,
  linktype_raw = 101,
  dlt_loop = 108,
  dlt_linux_sll = 113,
  dlt_ipv4 = 228,
  dlt_ipv6 = 229,
  dlt_linux_sll2 = 276,
};

constexpr std::uint16_t ether_ipv4 = 0x0800;
constexpr std::uint16_t ether_ipv6 = 0x86dd;

decoded<link_frame> cut_header(link_frame frame, std::size_t header_bytes) {
  frame.payload = frame.payload.subspan(header_bytes);
  frame.payload_bytes -= static_cast<std::uint32_t>(header_bytes);
  if (frame.ether_type != ether_ipv4 && frame.ether_type != ether_ipv6)
    return skipped{skip_reason::not_ip, "network protocol is not IP"};
  return frame;
}

// 802.1Q, 802.1ad and the older QinQ tags; any number of them, each four bytes.
bool is_vlan_tag(std::uint16_t ether_type) {
  return ether_type == 0x8100 || ether_type == 0x88a8 || ether_type == 0x9100;
}

decoded<link_frame> decode_tags(link_frame frame, std::size_t header_bytes) {
  while (is_vlan_tag(frame.ether_type)) {
    if (frame.payload.size() < header_bytes + 4)
      return too_short(frame.payload_bytes, header_bytes + 4, "VLAN tag");
    frame.ether_type = read_u16(frame.payload, header_bytes + 2);
    header_bytes += 4;
  }
  return cut_header(frame, header_bytes);
}

mac_address read_mac(byte_view bytes, std::size_t at) {
  mac_address mac{};
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), mac.size(), mac.begin());
  return mac;
}

decoded<link_frame> decode_ethernet(link_frame frame) {
  if (frame.payload.size() < 14)
    return too_short(frame.payload_bytes, 14, "Ethernet header");
  frame.destination = read_mac(frame.payload, 0);
  frame.source = read_mac(frame.payload, 6);
  frame.ether_type = read_u16(frame.payload, 12);
  return decode_tags(frame, 14);
}

decoded<link_frame> decode_sll(link_frame frame) {
  if (frame.payload.size() < 16)
    return too_short(frame.payload_bytes, 16, "Linux cooked header");
  if (read_u16(frame.payload, 4) == 6)
    frame.source = read_mac(frame.payload, 6);
  frame.ether_type = read_u16(frame.payload, 14);
  return decode_tags(frame, 16);
}

decoded<link_frame> decode_sll2(link_frame frame) {
  if (frame.payload.size() < 20)
    return too_short(frame.payload_bytes, 20, "Linux cooked v2 header");
  if (frame.payload[11] == 6)
    frame.source = read_mac(frame.payload, 12);
  frame.ether_type = read_u16(frame.payload, 0);
  return decode_tags(frame, 20);
}

// BSD loopback: four bytes of address family in the byte order of the host that captured it.
// AF_INET is 2 everywhere; AF_INET6 differs by system.
decoded<link_frame> decode_null(link_frame frame) {
  if (frame.payload.size() < 4)
    return too_short(frame.payload_bytes, 4, "loopback header");
  const auto bytes = frame.payload;
  const std::uint32_t family = bytes[0] == 0 && bytes[1] == 0
                                   ? read_u32(bytes, 0)
                                   : std::uint32_t{bytes[0]} | std::uint32_t{bytes[1]} << 8;
  if (family == 2)
    frame.ether_type = ether_ipv4;
  if (family == 10 || family == 24 || family == 28 || family == 30)
    frame.ether_type = ether_ipv6;
  return cut_header(frame, 4);
}

decoded<link_frame> decode_raw(link_frame frame) {
  if (frame.payload.empty())
    return too_short(frame.payload_bytes, 1, "IP header");
  const auto version = frame.payload[0] >> 4;
  if (version == 4)
    frame.ether_type = ether_ipv4;
  if (version == 6)
    frame.ether_type = ether_ipv6;
  if (frame.ether_type == 0)
    return skipped{skip_reason::malformed, "IP version"};
  return frame;
}

} // namespace

bool is_supported(int link_type) {
  constexpr std::array known{dlt_null, dlt_ethernet,  dlt_raw,  dlt_raw_on_openbsd, linktype_raw,
                             dlt_loop, dlt_linux_sll, dlt_ipv4, dlt_ipv6,           dlt_linux_sll2};
  return std::find(known.begin(), known.end(), link_type) != known.end();
}

decoded<link_frame> decode_link(int link_type, byte_view captured, std::uint32_t wire_bytes) {
  link_frame frame;
  frame.payload = captured;
  frame.payload_bytes = std::max(wire_bytes, static_cast<std::uint32_t>(captured.size()));
  switch (link_type) {
  case dlt_ethernet:
    return decode_ethernet(frame);
  case dlt_linux_sll:
    return decode_sll(frame);
  case dlt_linux_sll2:
    return decode_sll2(frame);
  case dlt_null:
  case dlt_loop:
    return decode_null(frame);
  case dlt_raw:
  case dlt_raw_on_openbsd:
  case linktype_raw:
  case dlt_ipv4:
  case dlt_ipv6:
    return decode_raw(frame);
  default:
    return skipped{skip_reason::not_ip, "link type is not known"};
  }
}

} // namespace flow_monitor
