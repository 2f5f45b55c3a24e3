// Version 2 between nodes of ours, version 1 towards others, in one network.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/published.hpp"
#include "support/raw_socket.hpp"
#include "wire/broker/envelope.hpp"

#include <thread>

using namespace pubsub;
using namespace pubsub::test;

namespace {

/// Endpoints in a row that speak these versions.
struct mixed_chain {
  explicit mixed_chain(const std::vector<std::uint8_t>& versions) {
    for (auto each : versions)
      all.push_back(std::make_unique<endpoint>(speaking(each)));
    for (std::size_t i = 0; i + 1 < all.size(); ++i)
      join(*all[i], *all[i + 1]);
  }
  std::vector<std::unique_ptr<endpoint>> all;
};

endpoint_options named_us() {
  endpoint_id::bytes_type id;
  id.fill(0x11);
  endpoint_options options;
  options.id = endpoint_id{id};
  return options;
}

const std::string ff = "ffffffffffffffffffffffffffffffff 0000000000000001 0000000000000001";
const std::string neighbours_of_ff = "80000024 03 03" + ff + "00 00";
const std::string wants_of_ff = "80000025 04 01" + ff + "01 00 00";

/// A raw peer with the id ff.. that speaks version 2 and wants everything.
raw_socket peered_v2(endpoint& ep, std::uint16_t port) {
  endpoint_id::bytes_type bytes;
  bytes.fill(0xff);
  auto wire = raw_socket::connect(port);
  CHECK(wire.send("00000017 06 5a45454b ffffffffffffffffffffffffffffffff 0102"));
  for (int i = 0; i < 3; ++i)
    CHECK_FALSE(wire.read_frame().empty()); // probe, version_select, syn
  CHECK(wire.send(wire::make_frame(from_hex("0b0100"))));
  CHECK(wire.read_frame() == from_hex("00000001 0c"));
  CHECK(wire.send(neighbours_of_ff + wants_of_ff + "80000001 05"));
  CHECK(ep.wait_for_peer(endpoint_id{bytes}, patience));
  return wire;
}

const std::string us = "11111111111111111111111111111111";
const std::string whatever_it_wants = "ffffffffffffffff";

/// Table 0: "/t", for the endpoint that begins with 11, whose wants are known up to this report.
std::string told_knowing(const std::string& wants) {
  return "80000020 02 00 0000 02 2f74 01" + us + wants;
}
const std::string announced = told_knowing(whatever_it_wants);
const std::string header_of_two = "80000040 01 10 0000 00000002 00000001 0000000000000000"
                                  "ffffffffffffffffffffffffffffffff";
const std::string two_records = "00000009 00 020000000000000001 00000009 00 020000000000000002";

} // namespace

TEST_CASE("any mixture of versions along a chain delivers every message once, in order") {
  constexpr std::uint64_t messages = 20'000;
  for (unsigned mixture = 0; mixture < 16; ++mixture) {
    CAPTURE(mixture);
    mixed_chain nodes{{static_cast<std::uint8_t>(1 + (mixture & 1)),
                       static_cast<std::uint8_t>(1 + (mixture >> 1 & 1)),
                       static_cast<std::uint8_t>(1 + (mixture >> 2 & 1)),
                       static_cast<std::uint8_t>(1 + (mixture >> 3 & 1))}};
    auto sub = nodes.all.back()->make_subscriber({"/t", "/end"});
    auto on_the_way = nodes.all[1]->make_subscriber({"/t", "/middle"});
    REQUIRE(nodes.all[0]->wait_for_subscribers("/end", 1, patience));
    REQUIRE(nodes.all[0]->wait_for_subscribers("/middle", 1, patience));
    std::thread publisher{[&] {
      auto pub = nodes.all[0]->make_publisher("/t");
      for (std::uint64_t i = 0; i < messages; ++i)
        sent(pub.publish(count{i}));
    }};
    CHECK(receives_in_order(sub, messages));
    CHECK(receives_in_order(on_the_way, messages));
    publisher.join();
  }
}

TEST_CASE("messages of one thread on many topics part and stay in order") {
  chain nodes{3};
  auto even = nodes.back().make_subscriber({"/even"});
  auto odd = nodes.all[1]->make_subscriber({"/odd"});
  auto all = nodes.back().make_subscriber({"/"});
  REQUIRE(all.wait_ready(patience));
  REQUIRE(nodes.front().wait_for_subscribers("/even", 1, patience));
  REQUIRE(nodes.front().wait_for_subscribers("/odd", 1, patience));
  REQUIRE(eventually([&] { return nodes.front().filter().size() == 1; })); // "/" covers the rest
  constexpr std::uint64_t messages = 3000;
  for (std::uint64_t i = 0; i < messages; ++i)
    sent(nodes.front().publish((i % 2 == 0 ? "/even/" : "/odd/") + std::to_string(i % 600),
                               count{i}));
  for (std::uint64_t i = 0; i < messages; ++i) {
    const auto msg = all.get_for(patience);
    REQUIRE(msg);
    CHECK(get_data(*msg) == data{count{i}});
    CHECK(get_topic(*msg) == (i % 2 == 0 ? "/even/" : "/odd/") + std::to_string(i % 600));
    CHECK(next_number(i % 2 == 0 ? even : odd) == i);
  }
}

TEST_CASE("large messages pass between small ones") {
  chain nodes{4};
  auto sub = nodes.back().make_subscriber({"/t"});
  REQUIRE(nodes.front().wait_for_subscribers("/t", 1, patience));
  auto pub = nodes.front().make_publisher("/t");
  for (int i = 0; i < 40; ++i) {
    sent(pub.publish(std::string(static_cast<std::size_t>(i % 4 == 0 ? 300'000 : i), 'x')));
    sent(pub.publish(
        std::string(65'520 + static_cast<std::size_t>(i), 'y'))); // around a slab's size
  }
  for (int i = 0; i < 40; ++i) {
    CHECK(get_data(*sub.get_for(patience)) ==
          data{std::string(static_cast<std::size_t>(i % 4 == 0 ? 300'000 : i), 'x')});
    CHECK(get_data(*sub.get_for(patience)) ==
          data{std::string(65'520 + static_cast<std::size_t>(i), 'y')});
  }
}

TEST_CASE("more publishers than a link has tables") {
  chain nodes{3};
  auto sub = nodes.back().make_subscriber({"/t"});
  REQUIRE(nodes.front().wait_for_subscribers("/t", 1, patience));
  std::vector<publisher> publishers;
  for (int i = 0; i < 1500; ++i)
    publishers.push_back(nodes.front().make_publisher("/t/" + std::to_string(i)));
  for (int round = 0; round < 2; ++round)
    for (std::size_t i = 0; i < publishers.size(); ++i) {
      sent(publishers[i].publish(count{i}));
      const auto msg = sub.get_for(patience);
      REQUIRE(msg);
      CHECK(get_topic(*msg) == publishers[i].topic());
      CHECK(get_data(*msg) == data{count{i}});
    }
}

TEST_CASE("a batch from a raw peer arrives, in pieces too") {
  endpoint ep{named_us()};
  auto sub = ep.make_subscriber({"/t"});
  auto wire = peered_v2(ep, *ep.listen("tcp://127.0.0.1:0"));
  const auto bytes = from_hex(announced + header_of_two + two_records);
  for (auto each : bytes)
    CHECK(wire.send(buffer{each}));
  CHECK(next_number(sub) == 1);
  CHECK(next_number(sub) == 2);
  CHECK(ep.counters().received == 2);
}

TEST_CASE("what breaks the rules of version 2 closes that link and reaches nobody") {
  endpoint ep{named_us()};
  auto sub = ep.make_subscriber({"/t"});
  auto events = ep.make_status_subscriber();
  const auto port = *ep.listen("tcp://127.0.0.1:0");
  auto cut_short = header_of_two;
  cut_short.replace(0, 8, "80000038");
  for (const auto& bad : {
           header_of_two + two_records, // no topics told
           announced + cut_short + two_records.substr(0, 30) +
               " 00000009 00 02", // a record beyond its frame
           announced + header_of_two +
               "00000009 01 020000000000000001 00000009 00 020000000000000002",
           std::string{"80000000"},                       // no kind
           std::string{"80000001 7f"},                    // an unknown kind
           std::string{"80000008 02 01 0000 02 2f74 00"}, // numbers with a hole
           std::string{"80000008 02 00 0400 02 2f74 00"}, // a table beyond the last
           std::string{"fffffff0 01 10"},                 // too long
       }) {
    CAPTURE(bad);
    auto wire = peered_v2(ep, port);
    CHECK(wire.send(bad));
    CHECK(wire.closed_by_peer());
    CHECK(next_event(events, status_code::peer_lost));
  }
  CHECK(sub.available() == 0);
  endpoint good;
  CHECK(good.peer(local_uri(port)));
}

TEST_CASE("a new subscription gets nothing that was under way for one that has ended") {
  endpoint ep{named_us()};
  auto all = ep.make_subscriber({"/"});  // our second report of wants; the first has none
  auto old = ep.make_subscriber({"/t"}); // the third
  old.close();                           // the fourth
  auto sub = ep.make_subscriber({"/t"}); // the fifth
  auto wire = peered_v2(ep, *ep.listen("tcp://127.0.0.1:0"));
  auto later = header_of_two;
  later.replace(later.find("0000000000000000"), 16, "0000000000000010");
  CHECK(wire.send(told_knowing("0000000000000003") + header_of_two + two_records));
  CHECK(next_number(all) == 1);
  CHECK(next_number(all) == 2);
  CHECK(sub.available() == 0); // between these and the next there may be others that went elsewhere
  CHECK(wire.send(told_knowing("0000000000000005") + later + two_records));
  CHECK(next_number(all) == 1);
  CHECK(next_number(sub) == 1);
  CHECK(next_number(sub) == 2);
  CHECK(sub.counters().missed == 0);
}

TEST_CASE("a message that comes home is not delivered again") {
  endpoint ep{named_us()};
  auto sub = ep.make_subscriber({"/t"});
  auto wire = peered_v2(ep, *ep.listen("tcp://127.0.0.1:0"));
  auto own = header_of_two;
  own.replace(own.size() - 32, 32, std::string(32, '1'));
  CHECK(wire.send(announced + own + two_records + header_of_two + two_records));
  CHECK(next_number(sub) == 1);
  CHECK(next_number(sub) == 2);
  CHECK(eventually([&] { return ep.counters().received == 4; }));
  CHECK(sub.available() == 0);
}

TEST_CASE("a record whose payload is no value is dropped and counted, and forwarded untouched") {
  endpoint ep{named_us()};
  endpoint next;
  join(next, ep);
  auto sub = ep.make_subscriber({"/t"});
  auto far = next.make_subscriber({"/t"});
  auto wire = peered_v2(ep, *ep.listen("tcp://127.0.0.1:0"));
  REQUIRE(ep.wait_for_subscribers("/t", 3, patience));
  auto broken = two_records;
  broken.replace(12, 2, "ff");
  auto id_of_next = to_string(next.id());
  std::erase(id_of_next, '-');
  const auto told_both =
      "80000038 02 00 0000 02 2f74 02" + us + whatever_it_wants + id_of_next + whatever_it_wants;
  CHECK(wire.send(told_both + header_of_two + broken));
  CHECK(next_number(sub) == 2);
  CHECK(next_number(far) == 2);
  CHECK(sub.counters().decode_errors == 1);
  CHECK(far.counters().decode_errors == 1);
}

TEST_CASE("a peer that sends more than it has credit for is cut off") {
  endpoint ep{named_us()};
  auto sub = ep.make_subscriber({"/t"}, {overflow_policy::block, 1, 1 << 20}); // nobody reads
  auto events = ep.make_status_subscriber();
  auto wire = peered_v2(ep, *ep.listen("tcp://127.0.0.1:0"));
  REQUIRE(wire.send(announced));
  constexpr std::size_t batches = 1'000;
  constexpr std::size_t bytes_of_batches = batches * 28; // of their records
  buffer many;
  for (std::size_t i = 0; i < batches; ++i) {
    const auto one = from_hex(header_of_two + two_records);
    many.insert(many.end(), one.begin(), one.end());
  }
  std::size_t sent_bytes = 0;
  while (sent_bytes < 64'000'000 && wire.send(many))
    sent_bytes += bytes_of_batches;
  CHECK(wire.closed_by_peer());
  const auto event = next_error(events);
  REQUIRE(event);
  CHECK(event->failure() == errc::limit_exceeded);
  CHECK(ep.counters().received * 14 > 512 * 1024); // not at once
  CHECK(ep.counters().received * 14 < 6 * 1024 * 1024);
}
