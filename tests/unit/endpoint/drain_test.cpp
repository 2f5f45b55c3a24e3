// SPDX-License-Identifier: BSD-3-Clause
#include "endpoint/core.hpp"

#include "support/fake_node.hpp"
#include "support/published.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::test;

namespace {

/// A core with one Broker peer that subscribes to all topics, on a loop of the test.
struct fixture {
  fixture() {
    core.peers().adopt(carrier, wire::tcp_role::accepting);
    loop->run();
    party hands{wire::tcp_role::connecting, id_of(50), {""}};
    for (int round = 0; round < 4 && hands.machine.state() != outcome::peered; ++round) {
      for (const auto& each : hands.take_sent())
        carrier->receive(each);
      for (const auto& each : carrier->take_frames())
        hands.hear(each);
    }
    for (const auto& each : hands.take_sent())
      carrier->receive(each);
    carrier->take_frames();
  }
  ~fixture() {
    carrier->end({});
    loop->run();
  }
  void publish(std::int64_t value) {
    (void)core.with_outbound([&](outbound& out) {
      const auto result = out.publish("/a", data{value});
      out.seal();
      return result;
    });
  }
  std::size_t drain() { return core.drain(std::chrono::nanoseconds{0}); }
  /// The peer reads what is written, and answers pings.
  void read_all() {
    for (const auto& each : carrier->take_frames())
      if (const auto x = wire::parse_envelope(std::span{each}.subspan(4));
          x && x->type == wire::envelope_type::ping)
        carrier->receive(wire::make_pong(id_of(50), core.id(), x->payload));
    loop->run();
  }

  std::shared_ptr<fake_loop> loop = std::make_shared<fake_loop>();
  endpoint_core core{{}};
  std::shared_ptr<fake_link> carrier = std::make_shared<fake_link>(loop);
};

} // namespace

TEST_CASE(
    "draining counts what a peer has not read, and a peer that has not answered as one message") {
  fixture f;
  REQUIRE(f.core.peers().established().size() == 1);
  f.publish(1);
  f.publish(2);
  CHECK(f.drain() == 2);
  f.carrier->take_written();
  CHECK(f.drain() == 1);
  f.read_all();
}
