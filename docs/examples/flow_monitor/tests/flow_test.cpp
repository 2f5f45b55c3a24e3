#include "packets.hpp"

#include <flow_monitor/flow_table.hpp>

#include <doctest/doctest.h>

using namespace flow_monitor;
using namespace flow_monitor::test;

namespace {

// The one record these packets make.
conn_record record_of(std::initializer_list<packet> packets) {
  flow_table table{{}, {1, 2}};
  std::vector<conn_record> finished;
  for (const auto& p : packets)
    table.add(p, finished);
  table.finish_all(finished);
  REQUIRE(finished.size() == 1);
  return finished.front();
}

// "state history" of the one record these packets make.
std::string outcome(std::initializer_list<packet> packets) {
  const auto r = record_of(packets);
  return r.conn_state + " " + r.history;
}

} // namespace

TEST_CASE("a connection opened, used and closed by both sides is SF") {
  conversation c;
  const auto r = record_of({
      c.client(syn, 99, 0),
      c.server(syn | ack, 499, 100),
      c.client(ack, 100, 500),
      c.client(psh | ack, 100, 500, "GET / HTTP/1.1\r\n"),
      c.server(ack, 500, 116),
      c.server(psh | ack, 500, 116, "HTTP/1.1 200 OK\r\n"),
      c.client(ack, 116, 517),
      c.server(fin | ack, 517, 116),
      c.client(fin | ack, 116, 518),
      c.server(ack, 518, 117),
  });
  CHECK(r.conn_state == "SF");
  CHECK(r.history == "ShADadfF");
  CHECK(r.service == "http");
  CHECK(to_string(r.orig_h) == "10.0.0.1");
  CHECK(r.orig_p == 40000);
  CHECK(r.resp_p == 80);
  CHECK(r.orig_bytes == 16);
  CHECK(r.resp_bytes == 17);
  CHECK(r.missed_bytes == 0);
  CHECK(r.orig_pkts == 5);
  CHECK(r.orig_ip_bytes == 5 * 40 + 16);
  CHECK(r.resp_pkts == 5);
  CHECK(r.resp_ip_bytes == 5 * 40 + 17);
  CHECK(r.ts == at_ms(1));
  CHECK(r.duration == std::chrono::milliseconds{9});
  CHECK(r.local_orig == true);
  CHECK(r.ip_proto == 6);
}

TEST_CASE("each way a connection can go has its state") {
  conversation c;
  const auto s = c.client(syn, 99, 0);
  const auto h = c.server(syn | ack, 499, 100);
  const auto a = c.client(ack, 100, 500);
  const auto orig_fin = c.client(fin | ack, 100, 500);
  const auto resp_fin = c.server(fin | ack, 500, 100);
  const auto orig_rst = c.client(rst | ack, 100, 500);
  const auto resp_rst = c.server(rst | ack, 500, 100);
  CHECK(outcome({s}) == "S0 S");
  CHECK(outcome({s, h, a}) == "S1 ShA");
  CHECK(outcome({s, h, a, orig_fin}) == "S2 ShAF");
  CHECK(outcome({s, h, a, resp_fin}) == "S3 ShAf");
  CHECK(outcome({s, h, a, orig_fin, resp_fin}) == "SF ShAFf");
  CHECK(outcome({s, h, a, orig_rst}) == "RSTO ShAR");
  CHECK(outcome({s, h, a, resp_rst}) == "RSTR ShAr");
  CHECK(outcome({s, resp_rst}) == "REJ Sr");
  CHECK(outcome({s, orig_rst}) == "RSTOS0 SR");
  CHECK(outcome({s, orig_fin}) == "SH SF");
  CHECK(outcome({h}) == "OTH ^h");
  CHECK(outcome({h, resp_fin}) == "SHR ^hf");
  CHECK(outcome({h, resp_rst}) == "RSTRH ^hr");
  CHECK(outcome({a}) == "OTH A");
  CHECK(outcome({s, c.server(ack, 500, 100)}) == "OTH Sa"); // answered, but by no SYN
  CHECK(outcome({orig_rst}) == "OTH R");
}

TEST_CASE("a reset after both sides closed does not undo the close") {
  conversation c;
  CHECK(outcome({c.client(syn, 99, 0), c.server(syn | ack, 499, 100), c.client(fin | ack, 100, 500),
                 c.server(fin | ack, 500, 101), c.client(rst, 101, 0)}) == "SF ShFfR");
}

TEST_CASE("of two resets the first one decides") {
  conversation c;
  CHECK(outcome({c.client(syn, 99, 0), c.server(syn | ack, 499, 100), c.server(rst, 500, 0),
                 c.client(rst, 100, 0)}) == "RSTR ShrR");
}

TEST_CASE("a repeated SYN is noted once, another SYN again") {
  conversation c;
  CHECK(outcome({c.client(syn, 99, 0), c.client(syn, 99, 0)}) == "S0 S");
  CHECK(outcome({c.client(syn, 99, 0), c.client(syn, 77, 0)}) == "S0 SS");
}

TEST_CASE("the first packet of a responder turns the direction around") {
  conversation c;
  const auto r = record_of({c.server(psh | ack, 500, 100, "data"), c.client(ack, 100, 504)});
  CHECK(to_string(r.orig_h) == "10.0.0.1");
  CHECK(r.history == "^dA");
  CHECK(r.orig_bytes == 0);
  CHECK(r.resp_bytes == 4);
}

TEST_CASE("payload sent again is noted on a logarithmic scale and not counted") {
  conversation c;
  flow_table table{{}, {1, 2}};
  std::vector<conn_record> finished;
  table.add(c.client(syn, 99, 0), finished);
  table.add(c.server(syn | ack, 499, 100), finished);
  for (int i = 0; i < 101; ++i)
    table.add(c.client(psh | ack, 100, 500, "again"), finished);
  table.finish_all(finished);
  REQUIRE(finished.size() == 1);
  CHECK(finished[0].history == "ShDTTT"); // the 1st, 10th and 100th repetition
  CHECK(finished[0].orig_bytes == 5);
  CHECK(finished[0].orig_pkts == 102);
}

TEST_CASE("sequence numbers that wrap are counted like any others") {
  conversation c;
  const std::string kilobyte(1000, 'x');
  const auto r =
      record_of({c.client(syn, 0xfffffdff, 0), c.server(syn | ack, 0xffffffff, 0xfffffe00),
                 c.client(ack, 0xfffffe00, 0, kilobyte), c.client(ack, 488, 0, kilobyte),
                 c.server(ack, 0, 1488)});
  CHECK(r.orig_bytes == 2000);
  CHECK(r.resp_bytes == 0);
  CHECK(r.missed_bytes == 0);
  CHECK(r.history == "ShDa");
}

TEST_CASE("a gap the receiver has acknowledged is missed, and noted for its sender") {
  conversation c;
  const auto r = record_of({c.client(syn, 99, 0), c.server(syn | ack, 499, 100),
                            c.client(ack, 100, 500, "one"), c.client(ack, 203, 500, "two"),
                            c.server(ack, 500, 206)});
  CHECK(r.missed_bytes == 100);
  CHECK(r.orig_bytes == 106);
  CHECK(r.history == "ShDaG");
}

TEST_CASE("packets with flags that exclude each other are marked") {
  conversation c;
  CHECK(record_of({c.client(syn | fin, 99, 0)}).history == "QSF");
  CHECK(record_of({c.client(syn, 99, 0), c.server(fin | rst, 1, 100)}).history == "Sir");
}

TEST_CASE("a zero window is noted") {
  conversation c;
  auto closed = c.client(ack, 100, 500);
  closed.tcp.window = 0;
  CHECK(record_of({c.client(syn, 99, 0), c.server(syn | ack, 499, 100), closed}).history == "ShAW");
}

TEST_CASE("UDP is SF once answered, S0 before") {
  conversation c{transport::udp};
  const auto asked = record_of({c.client(0, 0, 0, "ask"), c.client(0, 0, 0, "ask")});
  CHECK(asked.conn_state == "S0");
  CHECK(asked.history == "D");
  CHECK(asked.orig_bytes == 6);
  CHECK(asked.resp_bytes == 0);
  const auto answered = record_of({c.client(0, 0, 0, "ask"), c.server(0, 0, 0, "answer")});
  CHECK(answered.conn_state == "SF");
  CHECK(answered.history == "Dd");
  CHECK(answered.resp_bytes == 6);
  CHECK(outcome({c.server(0, 0, 0, "answer")}) == "SHR ^d");
}

TEST_CASE("a single packet has no duration and so no byte counts") {
  conversation c{transport::udp};
  const auto r = record_of({c.client(0, 0, 0, "ask")});
  CHECK_FALSE(r.duration.has_value());
  CHECK_FALSE(r.orig_bytes.has_value());
  CHECK_FALSE(r.resp_bytes.has_value());
  CHECK(r.orig_pkts == 1);
}

TEST_CASE("an echo request and its reply are one flow without history") {
  conversation c{transport::icmp};
  auto ask = c.client(0, 0, 0, "ping");
  ask.source_port = 8;
  ask.destination_port = 0;
  auto answer = c.server(0, 0, 0, "ping");
  answer.source_port = 0;
  answer.destination_port = 8;
  const auto r = record_of({ask, answer});
  CHECK(r.conn_state == "OTH");
  CHECK(r.history.empty());
  CHECK(r.orig_p == 8);
  CHECK(r.orig_bytes == 4);
  CHECK(r.resp_bytes == 4);
}

TEST_CASE("one-way ICMP messages in both directions are two flows") {
  conversation c{transport::icmp};
  auto there = c.client(0, 0, 0);
  auto back = c.server(0, 0, 0);
  for (auto* p : {&there, &back}) {
    p->source_port = p->destination_port = 3;
    p->is_one_way = true;
  }
  flow_table table{{}, {1, 2}};
  std::vector<conn_record> finished;
  table.add(there, finished);
  table.add(back, finished);
  CHECK(table.size() == 2);
}
