#include "packets.hpp"

#include <flow_monitor/flow_table.hpp>

#include <doctest/doctest.h>

#include <set>

using namespace flow_monitor;
using namespace flow_monitor::test;
using namespace std::chrono_literals;

namespace {

struct recorder {
  explicit recorder(const flow_limits& limits = {}) : table(limits, {1, 2}) {}
  void add(const packet& p) { table.add(p, finished); }
  void advance(pubsub::timestamp now) { table.advance(now, finished); }

  flow_table table;
  std::vector<conn_record> finished;
};

} // namespace

TEST_CASE("both directions of a connection are one flow") {
  conversation c;
  recorder r;
  r.add(c.client(syn, 1, 0));
  r.add(c.server(syn | ack, 1, 2));
  CHECK(r.table.size() == 1);
  CHECK(r.finished.empty());
}

TEST_CASE("the same ports over another protocol are another flow") {
  conversation over_tcp;
  conversation over_udp{transport::udp};
  recorder r;
  r.add(over_tcp.client(syn, 1, 0));
  r.add(over_udp.client(0, 0, 0));
  CHECK(r.table.size() == 2);
}

TEST_CASE("a closed connection ends after a pause for late packets") {
  conversation c;
  recorder r;
  r.add(c.client(syn, 1, 0));
  r.add(c.server(syn | ack, 1, 2));
  r.add(c.client(fin | ack, 2, 2));
  r.add(c.server(fin | ack, 2, 3));
  r.add(c.client(ack, 3, 3));
  r.advance(c.now() + 5s);
  CHECK(r.finished.empty());
  r.advance(c.now() + 5s + 1ms);
  REQUIRE(r.finished.size() == 1);
  CHECK(r.finished[0].conn_state == "SF");
  CHECK(r.finished[0].orig_pkts == 3);
  CHECK(r.table.size() == 0);
}

TEST_CASE("a reset connection ends after a shorter pause") {
  conversation c;
  recorder r;
  r.add(c.client(syn, 1, 0));
  r.add(c.server(rst | ack, 0, 2));
  r.advance(c.now() + 501ms);
  REQUIRE(r.finished.size() == 1);
  CHECK(r.finished[0].conn_state == "REJ");
}

TEST_CASE("an unanswered attempt, a quiet connection and quiet UDP end after their own timeouts") {
  flow_limits limits;
  limits.tcp_timeout = 100s;
  limits.udp_timeout = 20s;
  limits.attempt_timeout = 3s;
  recorder r{limits};
  conversation attempt{transport::tcp, 1001};
  conversation quiet{transport::tcp, 1002};
  conversation datagrams{transport::udp, 1003};
  r.add(attempt.client(syn, 1, 0));
  r.add(quiet.client(syn, 1, 0));
  r.add(quiet.server(syn | ack, 1, 2));
  r.add(datagrams.client(0, 0, 0));
  r.advance(quiet.now() + 4s);
  REQUIRE(r.finished.size() == 1);
  CHECK(r.finished[0].conn_state == "S0");
  r.advance(quiet.now() + 21s);
  REQUIRE(r.finished.size() == 2);
  CHECK(r.finished[1].proto == transport::udp);
  r.advance(quiet.now() + 101s);
  REQUIRE(r.finished.size() == 3);
  CHECK(r.finished[2].conn_state == "S1");
}

TEST_CASE("a packet puts off the end of its flow only") {
  recorder r;
  conversation busy{transport::udp, 1001};
  conversation quiet{transport::udp, 1002};
  r.add(busy.client(0, 0, 0));
  r.add(quiet.client(0, 0, 0));
  busy.wait(50s);
  r.add(busy.client(0, 0, 0));
  busy.wait(50s);
  r.add(busy.client(0, 0, 0));
  REQUIRE(r.finished.size() == 1);
  CHECK(r.finished[0].orig_p == 1002);
  CHECK(r.table.size() == 1);
}

TEST_CASE("a full table ends the flow that was silent longest, and counts it") {
  flow_limits limits;
  limits.max_flows = 3;
  recorder r{limits};
  conversation first{transport::udp, 1};
  conversation second{transport::tcp, 2};
  conversation third{transport::udp, 3};
  conversation fourth{transport::udp, 4};
  second.wait(10ms);
  third.wait(20ms);
  fourth.wait(40ms);
  r.add(first.client(0, 0, 0));
  r.add(second.client(syn, 1, 0));
  r.add(third.client(0, 0, 0));
  first.wait(30ms);
  r.add(first.client(0, 0, 0)); // no longer the most silent
  r.add(fourth.client(0, 0, 0));
  REQUIRE(r.finished.size() == 1);
  CHECK(r.finished[0].orig_p == 2);
  CHECK(r.table.size() == 3);
  CHECK(r.table.evicted_flows() == 1);
}

TEST_CASE("however many flows begin, the table stays within its limit and reports them all") {
  flow_limits limits;
  limits.max_flows = 10;
  recorder r{limits};
  for (std::uint16_t port = 1; port <= 1000; ++port) {
    conversation c{transport::udp, port};
    r.add(c.client(0, 0, 0));
    CHECK(r.table.size() <= 10);
  }
  r.table.finish_all(r.finished);
  CHECK(r.finished.size() == 1000);
  CHECK(r.table.evicted_flows() == 990);
}

TEST_CASE("a SYN on ports of a connection that is over begins another one") {
  conversation c;
  recorder r;
  r.add(c.client(syn, 1, 0));
  r.add(c.server(rst | ack, 0, 2));
  r.add(c.client(syn, 1, 0)); // the same SYN again is a late copy
  CHECK(r.finished.empty());
  r.add(c.client(syn, 5000, 0));
  REQUIRE(r.finished.size() == 1);
  CHECK(r.finished[0].conn_state == "REJ");
  CHECK(r.table.size() == 1);
}

TEST_CASE("the end of input ends every flow, in the order they began") {
  recorder r;
  conversation late{transport::udp, 1};
  late.wait(100ms);
  conversation early{transport::tcp, 2};
  r.add(late.client(0, 0, 0));
  r.add(early.client(syn, 1, 0));
  r.table.finish_all(r.finished);
  REQUIRE(r.finished.size() == 2);
  CHECK(r.finished[0].orig_p == 2);
  CHECK(r.table.size() == 0);
}

TEST_CASE("a clock that jumps ahead and back ends flows once and breaks nothing") {
  recorder r;
  conversation c{transport::udp};
  r.add(c.client(0, 0, 0));
  conversation other{transport::udp, 7};
  auto jump = other.client(0, 0, 0);
  jump.at += 24h;
  r.add(jump);
  CHECK(r.finished.size() == 1);
  r.add(c.client(0, 0, 0));
  r.add(c.client(0, 0, 0));
  CHECK(r.finished.size() == 1);
  CHECK(r.table.size() == 2);
}

TEST_CASE("a packet older than the flow's first one gives no negative duration") {
  recorder r;
  conversation c{transport::udp};
  c.wait(1s);
  r.add(c.client(0, 0, 0));
  auto old = c.server(0, 0, 0);
  old.at -= 1s;
  r.add(old);
  r.table.finish_all(r.finished);
  REQUIRE(r.finished.size() == 1);
  CHECK_FALSE(r.finished[0].duration.has_value());
}

TEST_CASE("every flow has an identifier of its own") {
  auto one_run = uid_source{1, 2};
  auto same_run = uid_source{1, 2};
  auto other_run = uid_source{1, 3};
  std::set<std::string> seen;
  for (int i = 0; i < 10'000; ++i) {
    const auto uid = one_run.next();
    CHECK(uid.size() == 18);
    CHECK(uid.front() == 'C');
    CHECK(uid == same_run.next());
    seen.insert(uid);
    seen.insert(other_run.next());
  }
  CHECK(seen.size() == 20'000);
}
