// Broker peers that are linked with one another behind the network's back, as Brokers can be.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/published.hpp"
#include "support/raw_peer.hpp"

#include <atomic>
#include <mutex>
#include <thread>

#include "wire/broker/envelope.hpp"

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

endpoint_options named(char digit) {
  endpoint_options out;
  out.id = raw_peer::id(digit); // a smaller one than raw peers, which do not begin handshakes
  return out;
}

/// Two peers that hand each other what they get, as Brokers do: as if it came from them, with all
/// hops left. The one with the smaller id wants /t, the other everything that begins with /.
class linked_brokers {
public:
  linked_brokers(endpoint& at, endpoint& other_at)
      : small_{at, *at.listen("tcp://127.0.0.1:0"), 1, 0, 'd'},
        large_{other_at, *other_at.listen("tcp://127.0.0.1:0"), 1, 0, 'e'},
        pumps_{std::thread{[this] { pump(small_, large_, 'e', "/"); }},
               std::thread{[this] { pump(large_, small_, 'd', "/t"); }}} {
    want(small_, 'd', at, {"/t"});
    want(large_, 'e', other_at, {"/"});
  }
  ~linked_brokers() {
    ::shutdown(small_.wire.fd(), SHUT_RDWR);
    ::shutdown(large_.wire.fd(), SHUT_RDWR);
    for (auto& each : pumps_)
      each.join();
  }

  /// What arrives at one of them goes no further.
  void unlink() { linked_ = false; }
  /// Messages the network has given them, first and second together.
  std::size_t given() const { return given_; }
  /// Whether nothing is under way: what they have sent was read, and twice nothing came of it.
  /// (What one has sent comes to the other behind the first answer, and before the second.)
  bool are_at_rest() {
    const auto before = given();
    return all_is_read() && all_is_read() && given() == before;
  }

private:
  /// The nodes have read what they were sent, and what they had sent before they said so was read.
  bool all_is_read() {
    const auto wanted = pongs_ + 2;
    for (auto* const each : {&small_, &large_})
      send(*each,
           wire::make_ping(raw_peer::id(each == &small_ ? 'd' : 'e'), raw_peer::id('1'), {}));
    return eventually([&] { return pongs_ == wanted; });
  }

  bool send(raw_peer& to, const buffer& frame) {
    std::lock_guard lock{sending_};
    return to.wire.send(frame);
  }

  static void want(raw_peer& who, char digit, endpoint& at, const filter& wanted) {
    const auto id = raw_peer::id(digit);
    REQUIRE(who.wire.send(wire::make_routing_update(id, at.id(), wanted)));
    REQUIRE(eventually([&] {
      return std::ranges::any_of(
          at.peers(), [&](const auto& each) { return each.id == id && each.filter == wanted; });
    }));
  }

  void pump(raw_peer& from, raw_peer& to, char digit_of_to, std::string_view wanted) {
    for (auto next = from.read_frame(); !next.payload.empty(); next = from.read_frame()) {
      const auto x = wire::parse_envelope(next.payload);
      if (x && x->type == wire::envelope_type::pong)
        ++pongs_;
      if (!x || next.of_version_2 ||
          (x->type != wire::envelope_type::data && x->type != wire::envelope_type::command))
        continue;
      if (x->type == wire::envelope_type::data)
        ++given_;
      auto frame = wire::make_frame(next.payload);
      wire::patch_for_forwarding(frame.data(), raw_peer::id(digit_of_to), wire::default_ttl);
      if (linked_ && x->topic.starts_with(wanted) && !send(to, frame))
        return;
    }
  }

  raw_peer small_;
  raw_peer large_;
  std::atomic<bool> linked_{true};
  std::atomic<std::size_t> given_{0};
  std::atomic<std::size_t> pongs_{0};
  std::mutex sending_; // one frame after the other
  std::thread pumps_[2];
};

} // namespace

TEST_CASE("what comes back over peers that are linked with one another stops going round") {
  endpoint a{named('1')};
  endpoint b{named('2')};
  join(b, a);
  for (auto* const second : {&a, &b}) { // both linked with one node, or with two
    linked_brokers those{a, *second};
    auto here = a.make_subscriber({"/t"});
    auto there = b.make_subscriber({"/t"});
    REQUIRE(a.wait_for_subscribers("/t", second == &a ? 4 : 3, patience));
    const auto dropped = second->counters().duplicates;
    const auto have_come_back = [&](std::uint64_t n) {
      return eventually([&] { return second->counters().duplicates >= dropped + n; });
    };
    sent(a.publish("/t", count{0}));
    REQUIRE(have_come_back(1)); // it may have gone round until the circle was found
    REQUIRE(eventually([&] { return those.are_at_rest(); }));

    std::vector<data_message> before;
    for (auto* const each : {&here, &there})
      while (each->get_batch_for(before, 1000, 0ms) == receive_status::received) {
      }
    const auto given = those.given();
    constexpr std::uint64_t messages = 100;
    for (std::uint64_t i = 0; i < messages; ++i)
      sent(a.publish("/t", count{i}));
    for (auto* const each : {&here, &there})
      CHECK(receives_in_order(*each, messages));
    CHECK(have_come_back(messages));
    CHECK(eventually([&] { return those.are_at_rest(); }));
    CHECK(those.given() == given + messages); // to the one with the smaller id alone
    CHECK(here.available() == 0);
    CHECK(there.available() == 0);
    CHECK(second->counters().duplicates >= messages);

    sent(a.publish("/other",
                   count{1})); // this does not come back, and goes to the other one as before
    CHECK(eventually([&] { return those.given() == given + messages + 1; }));

    those.unlink(); // before long each of them gets its own
    CHECK(eventually([&] {
      const auto now = those.given();
      sent(a.publish("/t", count{0}));
      return eventually([&] { return those.given() == now + 2; }, 100ms);
    }));
  }
}

TEST_CASE("a peer that claims a circle where there is none harms only itself") {
  endpoint ep{named('1')};
  const auto port = *ep.listen("tcp://127.0.0.1:0");
  auto sub = ep.make_subscriber({"/t"});
  raw_peer liar{ep, port, 1, 0, 'e'};
  raw_peer honest{ep, port, 1, 0, 'd'};
  const auto claim = [&](const endpoint_id& from, const endpoint_id& over) {
    auto frame = wire::make_circle_probe({from, over}, "/t");
    wire::patch_for_forwarding(frame.data(), raw_peer::id('e'), wire::default_ttl);
    REQUIRE(liar.wire.send(frame));
  };
  const auto says = [&](raw_peer& who, char digit, std::uint64_t number) {
    buffer frame(wire::data_frame_bytes(2, 9));
    auto* const value = wire::write_data_header(frame.data(), raw_peer::id(digit), "/t", 9);
    value[0] = std::byte{2};
    store_be(value + 1, number);
    REQUIRE(who.wire.send(frame));
  };
  claim(raw_peer::id('7'), raw_peer::id('d')); // of a node nobody knows
  claim(ep.id(), raw_peer::id('7'));           // over a peer nobody has
  claim(ep.id(), raw_peer::id('e'));           // over itself
  says(liar, 'e', 1);
  CHECK(next_number(sub) == 1);
  claim(ep.id(), raw_peer::id('d'));
  says(liar, 'e', 2); // it has said itself that this comes over the other
  says(honest, 'd', 3);
  CHECK(next_number(sub) == 3);
  CHECK(eventually([&] { return ep.counters().duplicates == 1; }));
}
