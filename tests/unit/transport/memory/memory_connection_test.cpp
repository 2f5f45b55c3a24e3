// Two connections over a pair of sockets, on a loop that the test drives by hand.
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/memory/memory_connection.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <random>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "support/eventually.hpp"
#include "transport/memory/passed_fds.hpp"
#include "transport/memory/shared_region.hpp"
#include "transport/tuning.hpp"

using namespace pubsub;
using namespace pubsub::test;

namespace {

using byte_vector = std::vector<std::byte>;

byte_vector random_bytes(std::size_t size, unsigned seed) {
  std::minstd_rand random{seed};
  byte_vector result(size);
  std::ranges::generate(result, [&] { return static_cast<std::byte>(random() >> 8); });
  return result;
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all{"/proc/self/fd"};
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// One side: writes what it is given, and keeps what comes.
struct side {
  explicit side(std::shared_ptr<connection> x) : carrier(std::move(x)) {}
  ~side() { carrier->close(); }

  void write(byte_vector more) {
    left.insert(left.end(), more.begin(), more.end());
    if (!writing)
      go_on();
  }
  void go_on() {
    if (left.empty() || failure)
      return;
    writing = true;
    piece = {asio::const_buffer{left.data(), std::min(left.size(), most_written)}};
    carrier->write_some(piece, [this](error_code failed, std::size_t n) {
      writing = false;
      failure = failed;
      left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(n));
      go_on();
    });
  }
  /// Goes on until `rest` bytes are here or the peer has gone.
  void read(std::size_t until) {
    if (got.size() >= until || failure)
      return;
    carrier->read_some({buffer.data(), std::min(buffer.size(), until - got.size())},
                       [this, until](error_code failed, std::size_t n) {
                         failure = failed;
                         got.insert(got.end(), buffer.begin(),
                                    buffer.begin() + static_cast<std::ptrdiff_t>(n));
                         read(until);
                       });
  }

  std::shared_ptr<connection> carrier;
  std::size_t most_written = 50'000;
  byte_vector left;
  bool writing = false;
  std::array<asio::const_buffer, 1> piece;
  byte_vector buffer = byte_vector(20'000);
  byte_vector got;
  error_code failure;
};

struct connected_sides {
  connected_sides() { sockets(); } // what the loop opens for itself is there from here on
  ~connected_sides() { settle(); } // what has been cancelled lets go of its connection

  std::shared_ptr<asio::io_context> loop = std::make_shared<asio::io_context>(1);
  shared_memory_options options{.ring_bytes = 16'384};

  std::pair<stream_protocol::socket, stream_protocol::socket> sockets() {
    auto ends = *make_bell();
    const stream_protocol local{AF_UNIX, 0};
    return {stream_protocol::socket{*loop, local, ends.first.release()},
            stream_protocol::socket{*loop, local, ends.second.release()}};
  }
  std::shared_ptr<connection> make(stream_protocol::socket socket, memory_role role) {
    return make_memory_connection(loop, std::move(socket), role, options);
  }
  template <class Condition>
  bool run_until(Condition holds) {
    const auto until = std::chrono::steady_clock::now() + patience;
    loop->restart();
    while (!holds() && std::chrono::steady_clock::now() < until)
      loop->run_one_for(std::chrono::milliseconds{100});
    return holds();
  }
  /// Sends more than it takes to move, there and back.
  void move(side& a, side& b) {
    const auto there = random_bytes(tuning::bytes_before_memory, 3);
    const auto more = random_bytes(100, 4);
    exchange(a, b, there);
    exchange(b, a, more); // comes by the socket, and lets the other side propose
    exchange(a, b, more);
    exchange(b, a, more);
    settle();
  }
  /// All that can happen by itself has happened.
  void settle() {
    loop->restart();
    while (loop->poll() > 0) {
    }
  }
  void exchange(side& from, side& to, const byte_vector& what) {
    to.got.clear();
    from.write(what);
    to.read(what.size());
    REQUIRE(run_until([&] { return to.got.size() == what.size() || to.failure; }));
    CHECK(to.got == what);
  }
};

/// A peer that has shared its memory, and that the test plays.
struct played : connected_sides {
  played() {
    const auto fresh = random_bytes(1, 1);
    const std::array piece{asio::const_buffer{fresh.data(), fresh.size()}};
    auto bells = *make_bell();
    bell = std::move(bells.first);
    const proposal sent{region.release_fd(), std::move(bells.second)};
    REQUIRE(sent.send(ends.second.native_handle(), piece) == 1);
    victim.read(1);
    REQUIRE(run_until([&] { return victim.carrier->shared_bytes() > 0; }));
    REQUIRE(run_until([&] { return victim.got.size() == 1; }));
    region.outgoing().control->begins_at = 2; // after the one byte
  }
  void wake() { REQUIRE(::send(bell.get(), "", 1, 0) == 1); }

  std::pair<stream_protocol::socket, stream_protocol::socket> ends = sockets();
  shared_region region = *shared_region::make(options);
  unique_fd bell;
  side victim{make(std::move(ends.first), memory_role::agrees)};
};

} // namespace

TEST_CASE_FIXTURE(connected_sides, "little is carried by the socket, and shares no memory") {
  auto [one, other] = sockets();
  side a{make(std::move(one), memory_role::proposes)};
  side b{make(std::move(other), memory_role::agrees)};
  exchange(a, b, random_bytes(1000, 1));
  exchange(b, a, random_bytes(1000, 2));
  CHECK(a.carrier->shared_bytes() == 0);
  CHECK(b.carrier->shared_bytes() == 0);
}

TEST_CASE_FIXTURE(connected_sides, "both sides move to memory, and every byte stays in order") {
  auto [one, other] = sockets();
  side a{make(std::move(one), memory_role::proposes)};
  side b{make(std::move(other), memory_role::agrees)};
  const auto there = random_bytes(3'000'000, 1);
  const auto back = random_bytes(2'000'000, 2);
  a.write(there);
  b.write(back);
  b.read(there.size());
  a.read(back.size());
  REQUIRE(run_until([&] { return a.got.size() == back.size() && b.got.size() == there.size(); }));
  CHECK(a.got == back);
  CHECK(b.got == there);
  CHECK(a.carrier->shared_bytes() == 4096 + 2 * options.ring_bytes);
  CHECK(b.carrier->shared_bytes() == a.carrier->shared_bytes());
}

TEST_CASE_FIXTURE(connected_sides,
                  "a side that is told nothing moves, too, and so does one that tells nothing") {
  for (const bool writer_proposes : {true, false}) {
    CAPTURE(writer_proposes);
    auto [one, other] = sockets();
    const auto role = [&](bool proposes) {
      return proposes ? memory_role::proposes : memory_role::agrees;
    };
    side a{make(std::move(one), role(writer_proposes))};
    side b{make(std::move(other), role(!writer_proposes))};
    exchange(a, b, random_bytes(tuning::bytes_before_memory, 3));
    settle();
    exchange(a, b, random_bytes(100, 4));
    settle();
    exchange(a, b, random_bytes(100, 5));
    const bool moved = a.carrier->shared_bytes() > 0 && b.carrier->shared_bytes() > 0;
    CHECK(moved == writer_proposes); // a proposal goes with bytes of its side
  }
}

TEST_CASE_FIXTURE(connected_sides, "a peer that does not know of memory is served by the socket") {
  for (const bool first : {true, false}) {
    CAPTURE(first);
    const auto before = open_descriptors();
    {
      auto [one, other] = sockets();
      side a{make(std::move(one), first ? memory_role::proposes : memory_role::agrees)};
      side b{std::make_shared<connection>(loop, std::move(other))};
      move(a, b);
      exchange(a, b, random_bytes(500'000, 7));
      exchange(b, a, random_bytes(500'000, 8));
      CHECK(a.carrier->shared_bytes() == 0);
      CHECK(open_descriptors() == before + 2); // it has given back what nothing came of
    }
    CHECK(open_descriptors() == before);
  }
}

TEST_CASE_FIXTURE(connected_sides, "what was written before the end is read, then comes the end") {
  auto [one, other] = sockets();
  side a{make(std::move(one), memory_role::proposes)};
  side b{make(std::move(other), memory_role::agrees)};
  move(a, b);
  REQUIRE(a.carrier->shared_bytes() > 0);
  const auto last = random_bytes(10'000, 5);
  a.write(last);
  REQUIRE(run_until([&] { return a.left.empty(); }));
  a.carrier->close();
  b.got.clear();
  b.read(last.size() + 1);
  REQUIRE(run_until([&] { return bool{b.failure}; }));
  CHECK(b.failure == asio::error::eof);
  CHECK(b.got == last);
}

TEST_CASE_FIXTURE(connected_sides,
                  "a writer that finds the ring full goes on when the peer reads") {
  auto [one, other] = sockets();
  side a{make(std::move(one), memory_role::proposes)};
  side b{make(std::move(other), memory_role::agrees)};
  move(a, b);
  b.got.clear();
  const auto much = random_bytes(200'000, 6);
  a.write(much);
  settle();
  CHECK(a.left.size() == much.size() - options.ring_bytes);
  b.read(much.size());
  REQUIRE(run_until([&] { return b.got.size() == much.size(); }));
  CHECK(b.got == much);
}

TEST_CASE_FIXTURE(connected_sides, "a writer whose peer has gone does not wait for it") {
  auto [one, other] = sockets();
  side a{make(std::move(one), memory_role::proposes)};
  side b{make(std::move(other), memory_role::agrees)};
  move(a, b);
  a.write(random_bytes(200'000, 6));
  settle();
  b.carrier->close();
  REQUIRE(run_until([&] { return bool{a.failure}; }));
  CHECK(a.failure == asio::error::broken_pipe);
}

TEST_CASE_FIXTURE(connected_sides, "nothing is left of closed connections") {
  const auto before = open_descriptors();
  for (int i = 0; i < 50; ++i) {
    auto [one, other] = sockets();
    side a{make(std::move(one), memory_role::proposes)};
    side b{make(std::move(other), memory_role::agrees)};
    move(a, b);
    CHECK(a.carrier->shared_bytes() > 0);
  }
  settle();
  CHECK(open_descriptors() == before);
}

TEST_CASE_FIXTURE(played, "a played peer is served as long as it tells the truth") {
  const auto text = random_bytes(1000, 9);
  std::ranges::copy(text, region.outgoing().bytes);
  region.outgoing().control->written = text.size();
  wake();
  victim.got.clear();
  victim.read(text.size());
  REQUIRE(run_until([&] { return victim.got.size() == text.size(); }));
  CHECK(victim.got == text);
}

TEST_CASE_FIXTURE(played, "positions that cannot be true end the connection, with the reason") {
  SUBCASE("of the writer") {
    region.outgoing().control->written = options.ring_bytes + 1;
    wake();
    victim.read(100);
    REQUIRE(run_until([&] { return bool{victim.failure}; }));
  }
  SUBCASE("of the reader") {
    region.incoming().control->read = 1;
    victim.write(random_bytes(2 * options.ring_bytes, 1));
    REQUIRE(run_until([&] { return bool{victim.failure}; }));
  }
  SUBCASE("of the move, which was before what has come") {
    region.outgoing().control->begins_at = 1;
    wake();
    victim.read(100);
    REQUIRE(run_until([&] { return bool{victim.failure}; }));
  }
  CHECK(victim.carrier->explain(victim.failure).code() == errc::logic_error);
}

TEST_CASE_FIXTURE(played, "memory in use stays, whatever the peer writes there and takes back") {
  victim.read(100);
  wake();
  run_until([&] { return region.outgoing().control->reader_sleeps != 0; });
  SUBCASE("before it goes") {
    region.outgoing().control->begins_at = 0;
  }
  SUBCASE("before it goes, all of it") {
    std::memset(static_cast<void*>(region.outgoing().control), 0, sizeof(ring_control));
    std::memset(static_cast<void*>(region.incoming().control), 0, sizeof(ring_control));
  }
  bell = {};
  REQUIRE(run_until([&] { return bool{victim.failure}; }));
  victim.failure = {};
  victim.write(random_bytes(2 * options.ring_bytes, 1));
  REQUIRE(run_until([&] { return bool{victim.failure}; }));
}

TEST_CASE_FIXTURE(played, "a bell that rings all the time wakes, and does no more") {
  int rings = 0;
  while (::send(bell.get(), "0123456789", 10, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
    ++rings;
  CHECK(rings > 10);
  const auto text = random_bytes(10, 9);
  std::ranges::copy(text, region.outgoing().bytes);
  region.outgoing().control->written = text.size();
  victim.got.clear();
  victim.read(text.size());
  REQUIRE(run_until([&] { return victim.got.size() == text.size(); }));
  victim.write(text);
  REQUIRE(run_until([&] { return region.incoming().control->written == text.size(); }));
}

TEST_CASE_FIXTURE(connected_sides,
                  "descriptors that are no memory and bell are closed, and all goes on") {
  const auto memory = [] { return unique_fd{::memfd_create("x", MFD_CLOEXEC)}; };
  const auto good_memory = [&] { return shared_region::make(options)->release_fd(); };
  const auto bell = [] { return std::move(make_bell()->first); };
  const auto file = [] { return unique_fd{::open("/dev/null", O_RDWR | O_CLOEXEC)}; };
  const auto before = open_descriptors();
  int kind = 0;
  SUBCASE("no seals") {
    kind = 0;
  }
  SUBCASE("a file for a bell") {
    kind = 1;
  }
  SUBCASE("the other way round") {
    kind = 2;
  }
  {
    auto [one, other] = sockets();
    const int raw = other.native_handle();
    side victim{make(std::move(one), memory_role::agrees)};
    const std::byte byte{1};
    const std::array piece{asio::const_buffer{&byte, 1}};
    for (int i = 0; i < 20; ++i) {
      const proposal bad = kind == 0   ? proposal{memory(), bell()}
                           : kind == 1 ? proposal{good_memory(), file()}
                                       : proposal{bell(), good_memory()};
      REQUIRE(bad.send(raw, piece) == 1);
    }
    victim.read(20);
    REQUIRE(run_until([&] { return victim.got.size() == 20; }));
    CHECK(victim.carrier->shared_bytes() == 0);
    CHECK(open_descriptors() == before + 2);
  }
  CHECK(open_descriptors() == before);
}
