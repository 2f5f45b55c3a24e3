// From captured bytes to one plain struct. Pure: no I/O, every length checked.
#pragma once

#include <pubsub/value/address.hpp>
#include <pubsub/value/time.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

namespace flow_monitor {

using byte_view = std::span<const std::uint8_t>;
using mac_address = std::array<std::uint8_t, 6>;

/// The values are the IP protocol numbers.
enum class transport : std::uint8_t { icmp = 1, tcp = 6, udp = 17, icmp6 = 58 };

struct tcp_fields {
  std::uint32_t seq = 0;
  std::uint32_t ack = 0;
  std::uint16_t window = 0;
  bool has_syn = false;
  bool has_ack = false;
  bool has_fin = false;
  bool has_rst = false;
};

/// What the link layer said: which network protocol follows, and who sent it.
struct link_frame {
  std::uint16_t ether_type = 0; ///< 0x0800 or 0x86dd
  std::optional<mac_address> source, destination;
  byte_view payload;               ///< what was captured after the link header
  std::uint32_t payload_bytes = 0; ///< what was on the wire after the link header
};

struct fragment_fields {
  std::uint32_t id = 0;
  std::uint32_t offset_bytes = 0;
  bool more = false;
};

/// One IP packet, its extension headers already walked up to the transport or the fragment header.
struct ip_datagram {
  pubsub::address source, destination;
  std::uint8_t protocol = 0;    ///< IP protocol number of what follows
  std::uint32_t ip_bytes = 0;   ///< total length by the IP header; for fragments, their sum
  std::uint32_t ip_packets = 1; ///< how many packets carried it
  std::optional<fragment_fields> fragment;
  byte_view payload;
  std::uint32_t payload_bytes = 0;
};

/// One transport-layer packet. `payload` views the buffer it was decoded from.
struct packet {
  pubsub::timestamp at{};
  pubsub::address source, destination;
  std::uint16_t source_port = 0;      ///< ICMP: the type
  std::uint16_t destination_port = 0; ///< ICMP: the type that answers it, or else the code
  transport protocol = transport::tcp;
  bool is_one_way = false; ///< an ICMP message that has no answer
  std::optional<mac_address> source_l2, destination_l2;
  std::uint32_t ip_bytes = 0;
  std::uint32_t ip_packets = 1;
  std::uint32_t payload_bytes = 0; ///< by the headers, even where the capture was cut short
  byte_view payload;               ///< the captured part of it
  tcp_fields tcp;
};

enum class skip_reason : std::uint8_t {
  truncated,      ///< the capture ends inside a header
  malformed,      ///< a header contradicts itself or the packet's length
  not_ip,         ///< ARP, spanning tree, ...
  other_protocol, ///< IP, but none of TCP, UDP, ICMP
  lost_fragment,  ///< a fragment whose datagram never became whole
};
inline constexpr std::size_t skip_reason_count = 5;
[[nodiscard]] std::string_view to_string(skip_reason reason);
/// True where a person should look at the capture; false for traffic we merely do not follow.
[[nodiscard]] bool is_error(skip_reason reason);

struct skipped {
  skip_reason reason;
  std::string_view what; ///< static text: the header at fault
};

/// A header that needs more bytes than there are: the packet was that short, or the capture cut it
/// off.
inline skipped too_short(std::uint32_t wire_bytes, std::size_t needed, std::string_view what) {
  return {wire_bytes < needed ? skip_reason::malformed : skip_reason::truncated, what};
}

template <class T>
using decoded = std::variant<T, skipped>;

/// Removes the link header. `link_type` is libpcap's DLT_ value; see is_supported().
[[nodiscard]] decoded<link_frame> decode_link(int link_type, byte_view captured,
                                              std::uint32_t wire_bytes);
[[nodiscard]] bool is_supported(int link_type);

/// Reads an IPv4 or IPv6 header and IPv6 extension headers. Stops at a fragment header.
[[nodiscard]] decoded<ip_datagram> decode_ip(const link_frame& frame);

/// Walks the IPv6 extension headers that `datagram.protocol` and payload begin with.
/// Needed once more after reassembly: extension headers may follow the fragment header.
[[nodiscard]] decoded<ip_datagram> walk_extension_headers(ip_datagram datagram);

/// Reads the TCP, UDP or ICMP header of an unfragmented or reassembled datagram.
[[nodiscard]] decoded<packet> decode_transport(const ip_datagram& datagram);

} // namespace flow_monitor
