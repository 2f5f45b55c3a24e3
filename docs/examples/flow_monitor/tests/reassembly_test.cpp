#include "packets.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace flow_monitor;
using namespace flow_monitor::test;

namespace {

bytes counting(std::size_t size) {
  bytes out(size);
  for (std::size_t i = 0; i < size; ++i)
    out[i] = static_cast<std::uint8_t>(i);
  return out;
}

bytes slice(const bytes& whole, std::size_t first, std::size_t size) {
  const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(size)};
}

// `whole` cut into IPv4 fragments at 16 and 40.
std::vector<bytes> three_fragments(const bytes& whole, std::uint16_t id = 5) {
  const auto cut = [&](std::size_t first, std::size_t size, bool more) {
    return ethernet(
        ether_ipv4,
        ipv4(slice(whole, first, size),
             {.id = id, .offset_bytes = static_cast<std::uint32_t>(first), .more = more}));
  };
  return {cut(0, 16, true), cut(16, 24, true), cut(40, whole.size() - 40, false)};
}

} // namespace

TEST_CASE("fragments in any order make the datagram, and each of them counts") {
  const bytes payload = counting(60);
  const auto fragments = three_fragments(udp(payload));
  std::vector<int> order{0, 1, 2};
  do {
    decoder d{dlt_ethernet};
    CHECK(std::holds_alternative<held>(decode(d, fragments[static_cast<std::size_t>(order[0])])));
    CHECK(std::holds_alternative<held>(decode(d, fragments[static_cast<std::size_t>(order[1])])));
    CHECK(d.held_packets() == 2);
    const auto outcome = decode(d, fragments[static_cast<std::size_t>(order[2])]);
    const auto* p = std::get_if<packet>(&outcome);
    REQUIRE(p != nullptr);
    CHECK(p->destination_port == 53);
    CHECK(std::equal(p->payload.begin(), p->payload.end(), payload.begin(), payload.end()));
    CHECK(p->ip_packets == 3);
    CHECK(p->ip_bytes == 3 * 20 + 68);
    CHECK(d.held_packets() == 0);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("IPv6 fragments are put together, extension headers behind the fragment header too") {
  const bytes whole = extension(17, 0) + udp(counting(40));
  decoder d{dlt_ethernet};
  const auto first =
      ethernet(ether_ipv6, ipv6(44, fragment_header(60, 0, true) + slice(whole, 0, 24)));
  const auto second = ethernet(
      ether_ipv6, ipv6(44, fragment_header(60, 24, false) + slice(whole, 24, whole.size() - 24)));
  CHECK(std::holds_alternative<held>(decode(d, second)));
  const auto outcome = decode(d, first);
  const auto* p = std::get_if<packet>(&outcome);
  REQUIRE(p != nullptr);
  CHECK(p->protocol == transport::udp);
  CHECK(p->payload_bytes == 40);
  CHECK(p->ip_packets == 2);
}

TEST_CASE("datagrams with different identification do not mix") {
  const auto ones = three_fragments(udp(counting(60)), 1);
  const auto twos = three_fragments(udp(counting(60)), 2);
  decoder d{dlt_ethernet};
  decode(d, ones[0]);
  decode(d, twos[1]);
  CHECK(std::holds_alternative<held>(decode(d, ones[2])));
  CHECK(std::holds_alternative<packet>(decode(d, ones[1])));
  CHECK(d.held_packets() == 1);
}

TEST_CASE("a repeated fragment changes nothing, an overlapping one voids the datagram") {
  const auto fragments = three_fragments(udp(counting(60)));
  decoder d{dlt_ethernet};
  decode(d, fragments[0]);
  decode(d, fragments[0]);
  decode(d, fragments[2]);
  CHECK(std::holds_alternative<packet>(decode(d, fragments[1])));

  decode(d, fragments[0]);
  const auto overlap =
      ethernet(ether_ipv4, ipv4(bytes(16, 0xff), {.id = 5, .offset_bytes = 8, .more = true}));
  CHECK(std::holds_alternative<held>(decode(d, overlap)));
  CHECK(d.held_packets() == 0);
  CHECK(d.skipped_packets(skip_reason::lost_fragment) == 2);
}

TEST_CASE("fragments that cannot be right are given up and counted") {
  const auto lost = [](const ipv4_fields& fields, std::size_t size) {
    decoder d{dlt_ethernet};
    decode(d, ethernet(ether_ipv4, ipv4(bytes(size, 0), fields)));
    return d.skipped_packets(skip_reason::lost_fragment);
  };
  CHECK(lost({.offset_bytes = 65528, .more = false}, 64) == 1); // beyond the largest datagram
  CHECK(lost({.offset_bytes = 0, .more = true}, 13) == 1);      // not a multiple of eight
  CHECK(lost({.offset_bytes = 8, .more = false}, 0) == 1);      // empty
}

TEST_CASE("a fragment beyond the datagram's end voids it") {
  decoder d{dlt_ethernet};
  decode(d, ethernet(ether_ipv4, ipv4(bytes(16, 0), {.offset_bytes = 16, .more = false})));
  decode(d, ethernet(ether_ipv4, ipv4(bytes(16, 0), {.offset_bytes = 64, .more = true})));
  CHECK(d.skipped_packets(skip_reason::lost_fragment) == 2);
}

TEST_CASE("an incomplete datagram is given up after its time, and at the end") {
  const auto fragments = three_fragments(udp(counting(60)));
  decoder d{dlt_ethernet};
  decode(d, fragments[0], 0);
  decode(d, fragments[1], 31'000);
  CHECK(d.skipped_packets(skip_reason::lost_fragment) == 1);
  d.finish();
  CHECK(d.skipped_packets(skip_reason::lost_fragment) == 2);
  CHECK(d.held_packets() == 0);
}

TEST_CASE("fragments held are bounded in number and in bytes") {
  reassembly_limits limits;
  limits.max_datagrams = 3;
  decoder few{dlt_ethernet, limits};
  for (std::uint16_t id = 0; id < 10; ++id)
    decode(few, ethernet(ether_ipv4, ipv4(bytes(16, 0), {.id = id, .more = true})));
  CHECK(few.held_packets() == 3);
  CHECK(few.skipped_packets(skip_reason::lost_fragment) == 7);

  limits.max_datagrams = 1000;
  limits.max_bytes = 100;
  decoder small{dlt_ethernet, limits};
  for (std::uint16_t id = 0; id < 10; ++id)
    decode(small, ethernet(ether_ipv4, ipv4(bytes(40, 0), {.id = id, .more = true})));
  CHECK(small.held_packets() == 2);
  CHECK(small.skipped_packets(skip_reason::lost_fragment) == 8);
}
