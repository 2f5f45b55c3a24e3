#include "packets.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace flow_monitor;
using namespace flow_monitor::test;

namespace {

const bytes query = text("hello");

const packet* as_packet(const decode_outcome& outcome) {
  return std::get_if<packet>(&outcome);
}

std::string_view reason(const decode_outcome& outcome) {
  const auto* why = std::get_if<skipped>(&outcome);
  return why != nullptr ? to_string(why->reason) : "not skipped";
}

// Frames that together visit every header the decoder knows.
std::vector<bytes> one_of_each() {
  const bytes segment = tcp(psh | ack, 1, 1, query);
  return {
      ethernet(ether_ipv4, ipv4(udp(query))),
      ethernet(ether_ipv4, ipv4(segment, {.protocol = 6, .options = bytes(8, 1)})),
      ethernet(0x8100, vlan_tag(0x8100) + vlan_tag(ether_ipv4) + ipv4(udp(query))),
      ethernet(ether_ipv6, ipv6(6, segment)),
      ethernet(ether_ipv6,
               ipv6(0, extension(43, 1) + extension(60, 0) + extension(17, 2) + udp(query))),
      ethernet(ether_ipv6, ipv6(44, fragment_header(17, 0, false) + udp(query))),
      ethernet(ether_ipv6, ipv6(58, icmp(128, 0, query))),
      ethernet(ether_ipv4, ipv4(icmp(8, 0, query), {.protocol = 1})),
  };
}

} // namespace

TEST_CASE("a UDP packet in Ethernet and IPv4 decodes to its fields") {
  decoder d{dlt_ethernet};
  const auto frame = ethernet(ether_ipv4, ipv4(udp(query)));
  const auto outcome = decode(d, frame, 5);
  const auto* p = as_packet(outcome);
  REQUIRE(p != nullptr);
  CHECK(p->at == at_ms(5));
  CHECK(to_string(p->source) == "10.0.0.1");
  CHECK(to_string(p->destination) == "10.0.0.2");
  CHECK(p->source_port == 4000);
  CHECK(p->destination_port == 53);
  CHECK(p->protocol == transport::udp);
  CHECK(p->ip_bytes == 33);
  CHECK(p->payload_bytes == 5);
  CHECK(std::equal(p->payload.begin(), p->payload.end(), query.begin(), query.end()));
  CHECK(p->source_l2 == mac_address{0x02, 0, 0, 0, 0, 0x01});
  CHECK(p->destination_l2 == mac_address{0x02, 0, 0, 0, 0, 0x02});
}

TEST_CASE("a TCP packet decodes to sequence numbers and flags") {
  const auto outcome = decode_one(ethernet(ether_ipv6, ipv6(6, tcp(syn | ack, 7, 8))));
  const auto* p = as_packet(outcome);
  REQUIRE(p != nullptr);
  CHECK(to_string(p->source) == "2001:db8::1");
  CHECK(p->protocol == transport::tcp);
  CHECK(p->tcp.seq == 7);
  CHECK(p->tcp.ack == 8);
  CHECK(p->tcp.window == 1000);
  CHECK(p->tcp.has_syn);
  CHECK(p->tcp.has_ack);
  CHECK_FALSE(p->tcp.has_fin);
  CHECK_FALSE(p->tcp.has_rst);
  CHECK(p->payload_bytes == 0);
  CHECK(p->ip_bytes == 60);
}

TEST_CASE("padding behind the IP packet is not payload") {
  decoder d{dlt_ethernet};
  for (const auto& ip : {ipv4(udp(query)), ipv4(tcp(ack, 1, 1, query), {.protocol = 6})}) {
    const auto frame = ethernet(ether_ipv4, ip + bytes(18, 0));
    const auto outcome = decode(d, frame);
    REQUIRE(as_packet(outcome) != nullptr);
    CHECK(as_packet(outcome)->payload_bytes == 5);
    CHECK(as_packet(outcome)->payload.size() == 5);
    CHECK(as_packet(outcome)->ip_bytes == ip.size());
  }
}

TEST_CASE("any number of VLAN tags is stepped over") {
  const bytes inner = vlan_tag(ether_ipv4) + ipv4(udp(query));
  for (const auto& frame : {ethernet(0x8100, inner), ethernet(0x88a8, vlan_tag(0x8100) + inner),
                            ethernet(0x9100, vlan_tag(0x8100) + vlan_tag(0x8100) + inner)}) {
    const auto outcome = decode_one(frame);
    REQUIRE(as_packet(outcome) != nullptr);
    CHECK(as_packet(outcome)->payload_bytes == 5);
  }
}

TEST_CASE("IPv6 extension headers of every length are stepped over") {
  bytes authentication(24, 0); // its length counts units of four bytes
  authentication[0] = 17;
  authentication[1] = 4;
  const bytes chain = extension(43, 0) + extension(60, 3) + extension(51, 1) + authentication;
  const auto outcome = decode_one(ethernet(ether_ipv6, ipv6(0, chain + udp(query))));
  REQUIRE(as_packet(outcome) != nullptr);
  CHECK(as_packet(outcome)->destination_port == 53);
  CHECK(as_packet(outcome)->payload_bytes == 5);
}

TEST_CASE("an extension header that claims more than there is does no harm") {
  auto chain = extension(17, 0);
  chain[1] = 255;
  CHECK(reason(decode_one(ethernet(ether_ipv6, ipv6(0, chain + udp(query))))) == "malformed");
  CHECK(reason(decode_one(ethernet(ether_ipv6, ipv6(0, bytes(4, 0))))) == "malformed");
}

TEST_CASE("eight thousand atomic fragment headers in a row are just headers") {
  bytes chain;
  for (int i = 0; i < 8000; ++i)
    chain = std::move(chain) + fragment_header(44, 0, false);
  const auto outcome = decode_one(
      ethernet(ether_ipv6, ipv6(44, chain + fragment_header(17, 0, false) + udp(query))));
  CHECK(as_packet(outcome) != nullptr);
}

TEST_CASE("Linux cooked, raw and loopback link headers are known") {
  const bytes ip4 = ipv4(udp(query));
  const bytes ip6 = ipv6(17, udp(query));
  const bytes sll = {0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 9, 0, 0, 8, 0};
  const bytes sll2 = {0x86, 0xdd, 0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 2, 0, 0, 0, 0, 9, 0, 0};
  struct {
    int link_type;
    bytes frame;
  } const cases[] = {
      {113, sll + ip4},
      {276, sll2 + ip6},
      {12, ip4},
      {101, ip6},
      {228, ip4},
      {229, ip6},
      {0, bytes{2, 0, 0, 0} + ip4},    // captured on a little-endian host
      {0, bytes{0, 0, 0, 2} + ip4},    // captured on a big-endian host
      {0, bytes{30, 0, 0, 0} + ip6},   // AF_INET6 of macOS
      {108, bytes{0, 0, 0, 24} + ip6}, // OpenBSD
  };
  for (const auto& each : cases) {
    CAPTURE(each.link_type);
    CHECK(is_supported(each.link_type));
    decoder d{each.link_type};
    const auto outcome = decode(d, each.frame);
    REQUIRE(as_packet(outcome) != nullptr);
    CHECK(as_packet(outcome)->payload_bytes == 5);
  }
  decoder cooked{113};
  const auto outcome = decode(cooked, sll + ip4);
  CHECK(std::get<packet>(outcome).source_l2 == mac_address{2, 0, 0, 0, 0, 9});
  CHECK_FALSE(std::get<packet>(outcome).destination_l2.has_value());
}

TEST_CASE("a capture cut off anywhere inside the headers is truncated, and after them it counts") {
  for (const auto& frame : one_of_each()) {
    bool is_whole = false;
    for (std::size_t kept = 0; kept <= frame.size(); ++kept) {
      CAPTURE(kept);
      decoder d{dlt_ethernet};
      // A copy of exactly this size, so that a sanitizer sees the first byte read too far.
      const bytes cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(kept));
      const auto outcome = d.decode({at_ms(0), cut, static_cast<std::uint32_t>(frame.size())});
      if (const auto* p = as_packet(outcome)) {
        is_whole = true;
        CHECK(p->payload_bytes == 5);
        CHECK(p->payload.size() + (frame.size() - kept) == 5);
      } else {
        CHECK_FALSE(is_whole);
        CHECK(reason(outcome) == "truncated");
        CHECK(d.skipped_packets(skip_reason::truncated) == 1);
      }
    }
    CHECK(is_whole);
  }
}

TEST_CASE("a packet shorter on the wire than its headers say is an error wherever it ends") {
  for (const auto& frame : one_of_each())
    for (std::size_t kept = 0; kept < frame.size(); ++kept) {
      CAPTURE(kept);
      const bytes cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(kept));
      const auto outcome = decode_one(cut);
      REQUIRE(std::holds_alternative<skipped>(outcome));
      CHECK(is_error(std::get<skipped>(outcome).reason));
    }
}

TEST_CASE("random bytes behind any link header never decode beyond their end") {
  std::uint32_t state = 1;
  const auto next = [&state] {
    state = state * 1664525U + 1013904223U;
    return static_cast<std::uint8_t>(state >> 24);
  };
  for (const int link_type : {0, 1, 12, 108, 113, 276}) {
    decoder d{link_type};
    for (int round = 0; round < 4000; ++round) {
      bytes frame(next() % 90U);
      std::generate(frame.begin(), frame.end(), next);
      if (frame.size() > 40 && round % 2 == 0) {
        const bytes start =
            ethernet(round % 4 == 0 ? ether_ipv4 : ether_ipv6,
                     bytes{static_cast<std::uint8_t>(round % 4 == 0 ? 0x45 : 0x60)});
        std::copy(start.begin(), start.end(), frame.begin());
      }
      const auto outcome = decode(d, frame, round);
      if (const auto* p = as_packet(outcome))
        CHECK(p->payload.size() <= 65535);
    }
  }
}

TEST_CASE("headers that contradict themselves are malformed") {
  auto short_header = ipv4(udp(query));
  short_header[0] = 0x44;
  CHECK(reason(decode_one(ethernet(ether_ipv4, short_header))) == "malformed");
  auto wrong_version = ipv4(udp(query));
  wrong_version[0] = 0x65;
  CHECK(reason(decode_one(ethernet(ether_ipv4, wrong_version))) == "malformed");
  auto short_total = ipv4(udp(query));
  short_total[3] = 10;
  CHECK(reason(decode_one(ethernet(ether_ipv4, short_total))) == "malformed");
  auto short_tcp = tcp(ack, 1, 1);
  short_tcp[12] = 0x40;
  CHECK(reason(decode_one(ethernet(ether_ipv6, ipv6(6, short_tcp)))) == "malformed");
  auto long_udp = udp(query);
  long_udp[5] = 200;
  CHECK(reason(decode_one(ethernet(ether_ipv6, ipv6(17, long_udp)))) == "malformed");
}

TEST_CASE("a length of zero, as segmentation offload leaves it, means the whole frame") {
  auto offloaded = ipv4(tcp(ack, 1, 1, query), {.protocol = 6});
  offloaded[2] = offloaded[3] = 0;
  const auto outcome = decode_one(ethernet(ether_ipv4, offloaded));
  REQUIRE(as_packet(outcome) != nullptr);
  CHECK(as_packet(outcome)->payload_bytes == 5);
}

TEST_CASE("traffic we do not follow is skipped but is no error") {
  CHECK(reason(decode_one(ethernet(0x0806, bytes(28, 0)))) == "not IP");
  CHECK(reason(decode_one(ethernet(ether_ipv4, ipv4(query, {.protocol = 47})))) ==
        "other IP protocol");
  CHECK_FALSE(is_error(skip_reason::not_ip));
  CHECK_FALSE(is_error(skip_reason::other_protocol));
  CHECK_FALSE(is_supported(147));
}

TEST_CASE("ICMP messages that have an answer pair up, others point one way") {
  const auto outcome_of = [](std::uint8_t type, std::uint8_t code) {
    return std::get<packet>(
        decode_one(ethernet(ether_ipv4, ipv4(icmp(type, code), {.protocol = 1}))));
  };
  const auto ask = outcome_of(8, 0);
  const auto answer = outcome_of(0, 0);
  CHECK(ask.source_port == answer.destination_port);
  CHECK(ask.destination_port == answer.source_port);
  CHECK_FALSE(ask.is_one_way);
  const auto unreachable = outcome_of(3, 4);
  CHECK(unreachable.source_port == 3);
  CHECK(unreachable.destination_port == 4);
  CHECK(unreachable.is_one_way);
}
