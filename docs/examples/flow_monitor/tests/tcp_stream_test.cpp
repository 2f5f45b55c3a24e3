#include <flow_monitor/tcp_stream.hpp>

#include <doctest/doctest.h>

using namespace flow_monitor;

namespace {

tcp_stream started_at(std::uint32_t seq) {
  tcp_stream s;
  s.start(seq);
  return s;
}

} // namespace

TEST_CASE("bytes are counted by sequence numbers, in order or not") {
  auto s = started_at(1000);
  CHECK(s.add_data(1000, 100).kind == segment_kind::fresh);
  CHECK(s.add_data(1200, 100).kind == segment_kind::fresh);
  CHECK(s.size_bytes() == 300);
  CHECK(s.contiguous_bytes() == 100);
  CHECK(s.add_data(1100, 100).kind == segment_kind::fresh);
  CHECK(s.contiguous_bytes() == 300);
  CHECK(s.size_bytes() == 300);
}

TEST_CASE("bytes sent again are told apart from new ones and counted once") {
  auto s = started_at(0);
  s.add_data(0, 100);
  CHECK(s.add_data(0, 100).kind == segment_kind::repeated);
  CHECK(s.add_data(50, 100).kind == segment_kind::repeated);
  CHECK(s.size_bytes() == 150);
  s.add_data(300, 50);
  CHECK(s.add_data(320, 50).kind == segment_kind::repeated);
  CHECK(s.add_data(150, 150).kind == segment_kind::fresh);
  CHECK(s.contiguous_bytes() == 370);
}

TEST_CASE("sequence numbers wrap around without a jump in the count") {
  auto s = started_at(0xffffff00);
  std::uint32_t seq = 0xffffff00;
  for (int i = 0; i < 10; ++i, seq += 100)
    CHECK(s.add_data(seq, 100).kind == segment_kind::fresh);
  CHECK(s.size_bytes() == 1000);
  CHECK(s.add_ack(seq) == 0);
  CHECK(s.add_data(0xffffff00, 100).kind == segment_kind::repeated);
  CHECK(s.size_bytes() == 1000);
}

TEST_CASE("more than four gigabytes are counted in full") {
  auto s = started_at(5);
  std::uint32_t seq = 5;
  constexpr std::uint32_t step = 500'000'000;
  for (int i = 0; i < 12; ++i, seq += step)
    s.add_data(seq, step);
  CHECK(s.size_bytes() == 12ULL * step);
  CHECK(s.contiguous_bytes() == 12ULL * step);
}

TEST_CASE("bytes acknowledged but never seen are missed, once") {
  auto s = started_at(0);
  s.add_data(0, 100);
  s.add_data(300, 100);
  CHECK(s.add_ack(100) == 0);
  CHECK(s.add_ack(200) == 100);
  CHECK(s.add_ack(400) == 100);
  CHECK(s.add_ack(400) == 0);
  CHECK(s.add_ack(500) == 100);
  CHECK(s.size_bytes() == 500);
}

TEST_CASE("the acknowledgement of a FIN is not a missed byte, seen or unseen") {
  auto seen = started_at(0);
  seen.add_data(0, 10);
  seen.add_fin(10);
  CHECK(seen.add_ack(11) == 0);
  CHECK(seen.is_fin_acked());
  CHECK(seen.size_bytes() == 10);
  auto unseen = started_at(0);
  unseen.add_data(0, 10);
  CHECK(unseen.add_ack(11) == 0);
  CHECK(unseen.size_bytes() == 10);
}

TEST_CASE("numbers no window allows change nothing") {
  auto s = started_at(0);
  s.add_data(0, 100);
  CHECK(s.add_data(0x60000000, 100).kind == segment_kind::impossible);
  CHECK(s.add_ack(0x60000000) == 0);
  s.add_fin(0x60000000);
  CHECK(s.size_bytes() == 100);
}

TEST_CASE("data from before the first packet seen does not count") {
  tcp_stream s;
  s.add_data(1000, 100);
  CHECK(s.add_data(900, 100).kind == segment_kind::repeated);
  CHECK(s.size_bytes() == 100);
}

TEST_CASE("a sender that leaves only holes costs bounded memory and no harm") {
  auto s = started_at(0);
  for (std::uint32_t i = 1; i < 100'000; ++i)
    s.add_data(i * 20, 10);
  CHECK(s.size_bytes() == 99'999 * 20 + 10);
  CHECK(s.contiguous_bytes() < s.size_bytes());
  CHECK(s.size_bytes() - s.contiguous_bytes() < 2000); // the holes behind were given up
}
