// A screen of a node: what peers send passes, is changed, or goes nowhere; over both versions of
// the wire. SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/published.hpp"

#include <atomic>

#include <pubsub/data_view.hpp>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t numbers_sent = 5'000;
constexpr std::byte added{0x40}; // to the first byte of a number

/// Lets even numbers on `/t` pass, and adds to them; knows how many messages its link has had.
class even_numbers final : public message_screen {
public:
  bool concerns(std::string_view topic) const noexcept override { return topic.starts_with("/t"); }
  std::unique_ptr<part> make_part(std::unique_ptr<part> before) const override {
    auto result = std::make_unique<link_part>(*this);
    if (const auto* const last = dynamic_cast<link_part*>(before.get()))
      result->seen = last->seen;
    return result;
  }

  mutable std::atomic<std::uint64_t> most_seen{0};

private:
  struct link_part final : part {
    explicit link_part(const even_numbers& x) : of(x) {}
    bool passes(std::string_view, std::span<std::byte> value) noexcept override {
      of.most_seen = std::max<std::uint64_t>(of.most_seen, ++seen);
      const auto view = data_view::make(value);
      if (!view || view->type() != data_type::count || view->as_count() % 2 != 0)
        return false;
      value[1] |= added;
      return true;
    }

    const even_numbers& of;
    std::uint64_t seen = 0;
  };
};

std::uint64_t changed(std::uint64_t x) {
  return x | std::uint64_t{0x40} << 56U;
}

void publish_all_numbers(publisher& to) {
  for (std::uint64_t i = 0; i < numbers_sent; ++i)
    sent(to.publish(count{i}));
}

/// All even numbers, changed, in their order; and nothing else.
bool gets_even_numbers(subscriber& from) {
  for (std::uint64_t i = 0; i < numbers_sent; i += 2)
    if (next_number(from) != changed(i))
      return false;
  return !from.try_get();
}

/// Of one at a peer and one behind it: a peer of version 1 counts as one, whatever is behind it.
std::size_t known_subscribers(std::uint8_t version) {
  return version == 1 ? 1 : 2;
}

} // namespace

TEST_CASE(
    "what a screen lets pass goes on as it was changed, in order, and the rest goes nowhere") {
  for (const std::uint8_t version : {1, 2}) {
    CAPTURE(version);
    chain nodes{3, speaking(version)};
    auto& relay = *nodes.all[1];
    relay.set_screen(std::make_shared<even_numbers>());
    auto out = nodes.front().make_publisher("/t/1");
    auto other = nodes.front().make_publisher("/other");
    auto far = nodes.back().make_subscriber({"/"});
    REQUIRE(out.wait_for_subscribers(1, patience));
    auto here = relay.make_subscriber({"/"});
    auto own = nodes.front().make_subscriber({"/"});
    REQUIRE(out.wait_for_subscribers(known_subscribers(version) + 1, patience));
    publish_all_numbers(out);
    CHECK(gets_even_numbers(far));
    CHECK(gets_even_numbers(here));
    for (std::uint64_t i = 0; i < numbers_sent; ++i)
      REQUIRE(next_number(own) == i);
    CHECK(eventually([&] { return relay.counters().screened_out == numbers_sent / 2; }));
    CHECK(relay.counters().received == numbers_sent);
    CHECK(relay.counters().forwarded == numbers_sent / 2);
    sent(other.publish(count{1}));
    CHECK(next_number(far) == 1);
    CHECK(relay.counters().screened_out == numbers_sent / 2);
  }
}

TEST_CASE("what a screen has dropped shows at subscribers as missed: nothing is lost in silence") {
  chain nodes{3};
  nodes.all[1]->set_screen(std::make_shared<even_numbers>());
  auto far = nodes.back().make_subscriber({"/t"});
  auto out = nodes.front().make_publisher("/t/1");
  REQUIRE(out.wait_for_subscribers(1, patience));
  publish_all_numbers(out);
  CHECK(gets_even_numbers(far));
  CHECK(far.counters().missed == numbers_sent / 2 - 1); // the last gap does not show yet
}

TEST_CASE("a full queue behind a screen holds up the publisher, and nothing that passes is lost") {
  for (const std::uint8_t version : {1, 2}) {
    CAPTURE(version);
    chain nodes{3, speaking(version)};
    nodes.all[1]->set_screen(std::make_shared<even_numbers>());
    queue_options small;
    small.capacity_messages = 4;
    auto out = nodes.front().make_publisher("/t/1");
    auto far = nodes.back().make_subscriber({"/t"}, small);
    REQUIRE(out.wait_for_subscribers(1, patience));
    auto here = nodes.all[1]->make_subscriber({"/t"}, small);
    REQUIRE(out.wait_for_subscribers(known_subscribers(version), patience));
    std::thread publishing{[&] { publish_all_numbers(out); }};
    std::thread reading{[&] { CHECK(gets_even_numbers(here)); }};
    CHECK(gets_even_numbers(far));
    reading.join();
    publishing.join();
    CHECK(far.counters().dropped() == 0);
    CHECK(here.counters().dropped() == 0);
  }
}

TEST_CASE("what a node publishes itself is not screened, and comes back to it no other way") {
  chain nodes{2};
  nodes.front().set_screen(std::make_shared<even_numbers>());
  auto far = nodes.back().make_subscriber({"/t"});
  auto own = nodes.front().make_subscriber({"/t"});
  REQUIRE(nodes.front().wait_for_subscribers("/t", 2, patience));
  sent(nodes.front().publish("/t", count{3}));
  CHECK(next_number(far) == 3);
  CHECK(next_number(own) == 3);
  CHECK(nodes.front().counters().screened_out == 0);
}

TEST_CASE("messages of clients and those for one endpoint are screened as well") {
  endpoint relay{forwarding_on()};
  relay.set_screen(std::make_shared<even_numbers>());
  endpoint from;
  endpoint to;
  const auto address = listen(relay);
  REQUIRE(from.peer(address).has_value());
  REQUIRE(to.peer(address).has_value());
  auto in = to.make_subscriber({"/t"});
  auto own = from.make_subscriber({"/t"});
  REQUIRE(from.wait_for_subscribers("/t", 2, patience));
  for (std::uint64_t i = 1; i < 3; ++i) {
    sent(from.publish("/t", count{i}));
    sent(from.publish_to(to.id(), "/t", count{i + 10}));
  }
  CHECK(next_number(in) == changed(2));
  CHECK(next_number(in) == changed(12));
  CHECK(next_number(own) == 1); // here it has not left
  CHECK(next_number(own) == 2);
  CHECK(relay.drain(patience) == 0); // so that an echo would be there
  CHECK(!own.try_get());
  CHECK(relay.counters().screened_out == 2);
}

TEST_CASE("another screen takes over from the one before, and without one everything passes") {
  chain nodes{2};
  auto first = std::make_shared<even_numbers>();
  auto second = std::make_shared<even_numbers>();
  nodes.back().set_screen(first);
  auto in = nodes.back().make_subscriber({"/t"});
  auto out = nodes.front().make_publisher("/t");
  REQUIRE(out.wait_for_subscribers(1, patience));
  const auto send = [&](std::uint64_t x) { sent(out.publish(count{x})); };
  send(1);
  send(2);
  CHECK(next_number(in) == changed(2));
  CHECK(first->most_seen == 2);
  nodes.back().set_screen(second);
  send(4);
  CHECK(next_number(in) == changed(4));
  CHECK(first->most_seen == 2);
  CHECK(second->most_seen == 3); // with what the first one knew
  nodes.back().set_screen(nullptr);
  send(5);
  CHECK(next_number(in) == 5);
  CHECK(first.use_count() == 1);
  CHECK(eventually([&] { return second.use_count() == 1; }));
}
