// Packets for the tests, built byte by byte and field by field.
#pragma once

#include <flow_monitor/decoder.hpp>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace flow_monitor::test {

using bytes = std::vector<std::uint8_t>;

constexpr std::uint16_t ether_ipv4 = 0x0800;
constexpr std::uint16_t ether_ipv6 = 0x86dd;
constexpr int dlt_ethernet = 1;

inline void put_u16(bytes& out, unsigned x) {
  out.push_back(static_cast<std::uint8_t>(x >> 8));
  out.push_back(static_cast<std::uint8_t>(x));
}

inline void put_u32(bytes& out, std::uint32_t x) {
  put_u16(out, x >> 16);
  put_u16(out, x & 0xffff);
}

inline bytes operator+(bytes head, const bytes& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

inline bytes text(std::string_view x) {
  return {x.begin(), x.end()};
}

inline bytes ethernet(std::uint16_t type, const bytes& payload) {
  bytes out{0x02, 0, 0, 0, 0, 0x02, 0x02, 0, 0, 0, 0, 0x01};
  put_u16(out, type);
  return out + payload;
}

inline bytes vlan_tag(std::uint16_t inner_type) {
  bytes out;
  put_u16(out, 7);
  put_u16(out, inner_type);
  return out;
}

struct ipv4_fields {
  std::uint8_t protocol = 17;
  std::uint16_t id = 1;
  std::uint32_t offset_bytes = 0;
  bool more = false;
  std::uint8_t last_byte_of_source = 1;
  bytes options{};
};

/// From 10.0.0.1 to 10.0.0.2.
inline bytes ipv4(const bytes& payload, const ipv4_fields& f = {}) {
  const auto header_bytes = 20 + f.options.size();
  bytes out{static_cast<std::uint8_t>(0x40 | header_bytes / 4), 0};
  put_u16(out, static_cast<unsigned>(header_bytes + payload.size()));
  put_u16(out, f.id);
  put_u16(out, (f.more ? 0x2000U : 0U) | f.offset_bytes / 8);
  out = out + bytes{64, f.protocol, 0, 0, 10, 0, 0, f.last_byte_of_source, 10, 0, 0, 2};
  return out + f.options + payload;
}

/// From 2001:db8::1 to 2001:db8::2.
inline bytes ipv6(std::uint8_t next_header, const bytes& payload) {
  bytes out{0x60, 0, 0, 0};
  put_u16(out, static_cast<unsigned>(payload.size()));
  out = out + bytes{next_header, 64};
  for (const std::uint8_t last : {1, 2})
    out = out + bytes{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last};
  return out + payload;
}

/// Hop-by-hop, routing or destination options: `units` of eight bytes beyond the first eight.
inline bytes extension(std::uint8_t next_header, std::uint8_t units) {
  bytes out(8U + units * 8U, 0);
  out[0] = next_header;
  out[1] = units;
  return out;
}

inline bytes fragment_header(std::uint8_t next_header, std::uint32_t offset_bytes, bool more,
                             std::uint32_t id = 9) {
  bytes out{next_header, 0};
  put_u16(out, offset_bytes | (more ? 1U : 0U));
  put_u32(out, id);
  return out;
}

inline bytes udp(const bytes& payload, unsigned source_port = 4000,
                 unsigned destination_port = 53) {
  bytes out;
  put_u16(out, source_port);
  put_u16(out, destination_port);
  put_u16(out, static_cast<unsigned>(8 + payload.size()));
  put_u16(out, 0);
  return out + payload;
}

enum tcp_flag : std::uint8_t { fin = 1, syn = 2, rst = 4, psh = 8, ack = 16 };

inline bytes tcp(int flags, std::uint32_t seq, std::uint32_t acked, const bytes& payload = {}) {
  bytes out;
  put_u16(out, 40000);
  put_u16(out, 80);
  put_u32(out, seq);
  put_u32(out, acked);
  out = out + bytes{0x50, static_cast<std::uint8_t>(flags)};
  put_u16(out, 1000);
  return out + bytes{0, 0, 0, 0} + payload;
}

inline bytes icmp(std::uint8_t type, std::uint8_t code, const bytes& payload = {}) {
  return bytes{type, code, 0, 0, 0, 1, 0, 1} + payload;
}

inline pubsub::timestamp at_ms(std::int64_t ms) {
  return pubsub::timestamp{std::chrono::milliseconds{1'700'000'000'000 + ms}};
}

inline decode_outcome decode(decoder& d, const bytes& frame, std::int64_t ms = 0) {
  return d.decode({at_ms(ms), frame, static_cast<std::uint32_t>(frame.size())});
}

/// Decodes one Ethernet frame by a decoder of its own; the payload must not be looked at.
inline decode_outcome decode_one(const bytes& frame) {
  decoder d{dlt_ethernet};
  return decode(d, frame);
}

/// The packets of one conversation, client 10.0.0.1:40000 and server 10.0.0.2:80, one every
/// millisecond.
class conversation {
public:
  explicit conversation(transport protocol = transport::tcp, std::uint16_t client_port = 40000)
      : protocol_(protocol), client_port_(client_port) {}

  packet client(int flags, std::uint32_t seq, std::uint32_t acked, std::string_view payload = {}) {
    return make(true, flags, seq, acked, payload);
  }
  packet server(int flags, std::uint32_t seq, std::uint32_t acked, std::string_view payload = {}) {
    return make(false, flags, seq, acked, payload);
  }
  void wait(std::chrono::milliseconds duration) { now_ms_ += duration.count(); }
  [[nodiscard]] pubsub::timestamp now() const { return at_ms(now_ms_); }

private:
  packet make(bool is_client, int flags, std::uint32_t seq, std::uint32_t acked,
              std::string_view payload) {
    packet p;
    p.at = at_ms(++now_ms_);
    p.source = pubsub::address::v4(is_client ? 0x0a000001 : 0x0a000002);
    p.destination = pubsub::address::v4(is_client ? 0x0a000002 : 0x0a000001);
    p.source_port = is_client ? client_port_ : 80;
    p.destination_port = is_client ? 80 : client_port_;
    p.protocol = protocol_;
    p.payload = {reinterpret_cast<const std::uint8_t*>(payload.data()), payload.size()};
    p.payload_bytes = static_cast<std::uint32_t>(payload.size());
    p.ip_bytes = (protocol_ == transport::tcp ? 40 : 28) + p.payload_bytes;
    p.tcp = {seq,
             acked,
             1000,
             (flags & syn) != 0,
             (flags & ack) != 0,
             (flags & fin) != 0,
             (flags & rst) != 0};
    return p;
  }

  transport protocol_;
  std::uint16_t client_port_;
  std::int64_t now_ms_ = 0;
};

} // namespace flow_monitor::test
