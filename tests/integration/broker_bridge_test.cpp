// A bridge between an endpoint of Broker and one of this library.
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <atomic>
#include <limits>
#include <memory>
#include <thread>

#include <pubsub/broker/bridge.hpp>

#include "support/broker_ends.hpp"
#include "support/nodes.hpp"

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;
using pubsub::broker::bridge;
using pubsub::broker::bridge_counters;
using pubsub::broker::bridge_options;

namespace {

bool adds_up(const bridge_counters& x) {
  return x.taken == x.given + x.dropped() + x.queued;
}

bridge_options everything() {
  bridge_options result;
  result.from_broker = {"/"};
  result.to_broker = {"/"};
  return result;
}

bridge join(::broker::endpoint& theirs, endpoint& ours, bridge_options options = everything()) {
  auto result = bridge::open(theirs, ours, std::move(options));
  REQUIRE(result.has_value());
  REQUIRE(result->wait_ready(patience));
  return std::move(*result);
}

/// Two endpoints, a bridge that takes everything, and a subscriber to everything at each.
struct joined_ends {
  explicit joined_ends(bridge_options options = everything())
      : between(join(theirs, ours, std::move(options))) {}

  ::broker::endpoint theirs{quiet_broker()};
  endpoint ours;
  ::broker::subscriber at_theirs = theirs.make_subscriber({::broker::topic{"/"}}, 100'000);
  subscriber at_ours = ours.make_subscriber({"/"});
  bridge between;
};

::broker::address broker_address(std::string_view text) {
  ::broker::address result;
  REQUIRE(::broker::convert(std::string{text}, result));
  return result;
}

struct equal_values {
  ::broker::data theirs;
  data ours;
};

std::vector<equal_values> values_of_all_types() {
  const auto v4 = broker_address("192.0.2.1");
  const auto v6 = broker_address("2001:db8::1");
  const auto ours_v4 = *address::parse("192.0.2.1");
  const auto ours_v6 = *address::parse("2001:db8::1");
  std::vector<equal_values> result{
      {::broker::data{}, data{}},
      {true, true},
      {::broker::count{std::numeric_limits<count>::max()},
       count{std::numeric_limits<count>::max()}},
      {::broker::integer{std::numeric_limits<integer>::min()},
       integer{std::numeric_limits<integer>::min()}},
      {-1.5, -1.5},
      {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()},
      {std::string{"zero \0 byte", 11}, std::string{"zero \0 byte", 11}},
      {v4, ours_v4},
      {v6, ours_v6},
      {::broker::subnet{v4, 24}, subnet{ours_v4, 24}},
      {::broker::subnet{v6, 32}, subnet{ours_v6, 32}},
      {::broker::subnet{}, subnet{}},
      {::broker::port{53, ::broker::port::protocol::udp}, port{53, transport::udp}},
      {::broker::port{8, ::broker::port::protocol::icmp}, port{8, transport::icmp}},
      {::broker::timestamp{::broker::timespan{1'600'000'000'123'456'789}},
       timestamp{timespan{1'600'000'000'123'456'789}}},
      {::broker::timespan{-7}, timespan{-7}},
      {::broker::enum_value{"Conn::LOG"}, enum_value{"Conn::LOG"}},
  };
  ::broker::vector theirs;
  vector ours;
  for (const auto& each : result) {
    theirs.push_back(each.theirs);
    ours.push_back(each.ours);
  }
  result.push_back({::broker::set(theirs.begin(), theirs.end()), set(ours.begin(), ours.end())});
  ::broker::table their_table;
  table our_table;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    their_table.emplace(theirs[i], theirs[theirs.size() - 1 - i]);
    our_table.emplace(ours[i], ours[ours.size() - 1 - i]);
  }
  result.push_back({their_table, our_table});
  result.push_back({theirs, ours});
  result.push_back({::broker::vector{theirs, their_table, ::broker::set{their_table}},
                    vector{ours, our_table, set{our_table}}});
  result.push_back({::broker::vector{}, vector{}});
  result.push_back({::broker::set{}, set{}});
  result.push_back({::broker::table{}, table{}});
  return result;
}

/// A count in so many vectors.
template <class Vector, class Data>
Data nested(unsigned containers) {
  Data result{std::uint64_t{1}};
  for (unsigned i = 0; i < containers; ++i) {
    Vector around;
    around.push_back(std::move(result));
    result = std::move(around);
  }
  return result;
}

void publish(::broker::endpoint& at, const char* topic, ::broker::data value) {
  at.publish(::broker::topic{topic}, std::move(value));
}

::broker::count number_in(const ::broker::data_message& message) {
  const auto value = value_of(message);
  REQUIRE(::broker::is<::broker::count>(value));
  return ::broker::get<::broker::count>(value);
}

} // namespace

TEST_CASE("a value of any type that Broker publishes is the same here, and the other way round") {
  joined_ends ends;
  for (const auto& each : values_of_all_types()) {
    CAPTURE(to_string(each.ours));
    publish(ends.theirs, "/their/topic", each.theirs);
    const auto here = ends.at_ours.get_for(patience);
    REQUIRE(here.has_value());
    CHECK(get_topic(*here) == "/their/topic");
    CHECK(get_view(*here).to_data() == each.ours);

    REQUIRE(ends.ours.publish("/our/topic", each.ours) == publish_result::taken);
    const auto there = next_of(ends.at_theirs);
    REQUIRE(there.has_value());
    CHECK(topic_of(*there) == "/our/topic");
    CHECK((value_of(*there) == each.theirs));
    REQUIRE(ends.at_ours.get_for(patience).has_value()); // what was published here
  }
}

TEST_CASE("values as deep as this library takes cross a bridge, deeper ones are counted") {
  joined_ends ends;
  const auto limit = decode_limits{}.max_depth;
  publish(ends.theirs, "/deep", nested<::broker::vector, ::broker::data>(limit + 1));
  publish(ends.theirs, "/deep", nested<::broker::vector, ::broker::data>(limit));
  const auto here = ends.at_ours.get_for(patience);
  REQUIRE(here.has_value());
  CHECK(get_data(*here) == nested<vector, data>(limit));
  CHECK(ends.between.from_broker().unconvertible == 1);

  REQUIRE(ends.ours.publish("/deep", nested<vector, data>(limit + 1)) == publish_result::taken);
  REQUIRE(ends.ours.publish("/deep", nested<vector, data>(limit)) == publish_result::taken);
  const auto there = next_of(ends.at_theirs);
  REQUIRE(there.has_value());
  CHECK((value_of(*there) == nested<::broker::vector, ::broker::data>(limit)));
  CHECK(ends.between.to_broker().unconvertible == 1);
}

#if PUBSUB_TEST_BROKER_1 // Broker 2 holds values as they are encoded
TEST_CASE("members of a set that are the same once encoded are counted, and no message is sent") {
  joined_ends ends;
  const auto tiny = std::numeric_limits<double>::denorm_min();
  publish(ends.theirs, "/set", ::broker::set{tiny, 2 * tiny});
  publish(ends.theirs, "/set", ::broker::set{0.5, 1.5});
  const auto here = ends.at_ours.get_for(patience);
  REQUIRE(here.has_value());
  CHECK(get_data(*here) == data{set{0.5, 1.5}});
  CHECK(eventually([&] { return ends.between.from_broker().given == 1; }));
  CHECK(ends.between.from_broker().taken == 2);
}
#endif

TEST_CASE("messages keep their order over a bridge, over all topics") {
  constexpr count n = 20'000;
  joined_ends ends;
  const char* topics[] = {"/a", "/b"};
  for (count i = 0; i < n; ++i)
    publish(ends.theirs, topics[i % 2], ::broker::count{i});
  CHECK(receives_in_order(ends.at_ours, n));
  ends.at_ours.close();
  std::thread publisher{[&] {
    for (count i = 0; i < n; ++i)
      (void)ends.ours.publish(topics[i % 2], i);
  }};
  count next = 0;
  for (const auto& each : next_of(ends.at_theirs, n))
    next += number_in(each) == next ? 1 : 0;
  publisher.join();
  CHECK(next == n);
}

TEST_CASE("nothing comes back over a bridge, where both filters have the same topics") {
  constexpr count n = 1000;
  joined_ends ends;
  for (count i = 0; i < n; ++i) {
    publish(ends.theirs, "/x", ::broker::count{i});
    REQUIRE(ends.ours.publish("/x", i) == publish_result::taken);
  }
  const auto there = next_of(ends.at_theirs, n);
  CHECK(there.size() == n);
  std::uint64_t here = 0;
  for (; here < 2 * n && ends.at_ours.get_for(patience); ++here) {
  }
  CHECK(here == 2 * n); // what was published here, and what came from there
  // Whatever came back would be in front of these.
  publish(ends.theirs, "/last", ::broker::count{n});
  REQUIRE(ends.ours.publish("/last", n) == publish_result::taken);
  const auto last_there = next_of(ends.at_theirs);
  REQUIRE(last_there.has_value());
  CHECK(topic_of(*last_there) == "/last");
  for (int i = 0; i < 2; ++i) {
    const auto last_here = ends.at_ours.get_for(patience);
    REQUIRE(last_here.has_value());
    CHECK(get_topic(*last_here) == "/last");
  }
  CHECK(eventually([&] { return ends.between.from_broker().given == n + 1; }));
  CHECK(ends.between.from_broker().taken == n + 1);
  CHECK(ends.between.to_broker().taken == n + 1);
  CHECK(ends.between.to_broker().given == n + 1);
}

TEST_CASE("two endpoints have one bridge between them, and another one when it is closed") {
  joined_ends ends;
  const auto second = bridge::open(ends.theirs, ends.ours, everything());
  REQUIRE_FALSE(second.has_value());
  CHECK(second.error().code() == errc::invalid_argument);
  ends.between.close();
  ends.between = join(ends.theirs, ends.ours);
  publish(ends.theirs, "/x", ::broker::count{0});
  CHECK(next_number(ends.at_ours) == 0);
}

TEST_CASE("two endpoints of Broker talk through one endpoint of this library") {
  endpoint ours;
  ::broker::endpoint left{quiet_broker()};
  ::broker::endpoint right{quiet_broker()};
  auto at_left = left.make_subscriber({::broker::topic{"/"}}, 1000);
  auto at_right = right.make_subscriber({::broker::topic{"/"}}, 1000);
  auto first = join(left, ours);
  auto second = join(right, ours);
  publish(left, "/from/left", ::broker::count{1});
  publish(right, "/from/right", ::broker::count{2});
  const auto there = next_of(at_right);
  const auto here = next_of(at_left);
  REQUIRE(there.has_value());
  REQUIRE(here.has_value());
  CHECK(number_in(*there) == 1);
  CHECK(number_in(*here) == 2);
  CHECK(eventually([&] { return first.from_broker().given + second.from_broker().given == 2; }));
  CHECK(first.to_broker().taken == 1);
  CHECK(second.to_broker().taken == 1);
}

TEST_CASE("where bridges close a circle, a message comes back once over each and goes no further") {
  constexpr count n = 100;
  ::broker::endpoint theirs{quiet_broker()};
  auto at_theirs = theirs.make_subscriber({::broker::topic{"/"}}, 1000);
  endpoint one{forwarding_on()};
  endpoint two{forwarding_on()};
  join(one, two);
  auto first = join(theirs, one);
  auto second = join(theirs, two);
  for (count i = 0; i < n; ++i)
    publish(theirs, "/x", ::broker::count{i});
  CHECK(next_of(at_theirs, 2 * n).size() == 2 * n);
  publish(theirs, "/last", ::broker::count{n}); // behind whatever goes round
  const auto last = next_of(at_theirs, 2);
  REQUIRE(last.size() == 2);
  for (const auto& each : last)
    CHECK(topic_of(each) == "/last");
  for (auto* each : {&first, &second}) {
    CHECK(eventually([&] { return each->from_broker().given == n + 1; }));
    CHECK(each->from_broker().taken == n + 1);
    CHECK(each->to_broker().taken == n + 1);
  }
}

TEST_CASE("a full queue from Broker drops what it says, and counts it") {
  constexpr count n = 10'000;
  for (const auto policy : {overflow_policy::drop_newest, overflow_policy::drop_oldest}) {
    CAPTURE(to_string(policy));
    auto options = everything();
    options.from_broker_queue = {.policy = policy, .capacity_messages = 10};
    ::broker::endpoint theirs{quiet_broker()};
    endpoint ours;
    auto slow = ours.make_subscriber({"/"}, {.capacity_messages = 10});
    auto between = join(theirs, ours, options);
    for (count i = 0; i < n; ++i)
      publish(theirs, "/x", ::broker::count{i});
    REQUIRE(eventually([&] { return between.from_broker().taken == n; }));
    CHECK(adds_up(between.from_broker()));
    CHECK(between.from_broker().full > 0);
    count received = 0;
    count newest = 0;
    for (; between.from_broker().queued > 0 || slow.available() > 0; ++received)
      newest = next_number(slow);
    const auto counts = between.from_broker();
    CHECK(received == counts.given);
    CHECK(counts.given + counts.full == n);
    CHECK((newest == n - 1) == (policy == overflow_policy::drop_oldest));
  }
}

TEST_CASE("with policy block nothing is lost on the way from Broker") {
  constexpr count n = 20'000;
  auto options = everything();
  options.from_broker_queue = {.capacity_messages = 10};
  ::broker::endpoint theirs{quiet_broker()};
  endpoint ours;
  auto slow = ours.make_subscriber({"/"}, {.capacity_messages = 10});
  auto between = join(theirs, ours, options);
  std::thread publisher{[&] {
    for (count i = 0; i < n; ++i)
      publish(theirs, "/x", ::broker::count{i});
  }};
  CHECK(receives_in_order(slow, n));
  publisher.join();
  CHECK(eventually([&] { return between.from_broker().given == n; }));
  CHECK(between.from_broker().dropped() == 0);
}

TEST_CASE("a full queue to Broker drops what it says, and counts it") {
  constexpr count n = 200'000;
  auto options = everything();
  options.to_broker_queue = {.policy = overflow_policy::drop_newest, .capacity_messages = 1};
  ::broker::endpoint theirs{quiet_broker()};
  auto at_theirs = theirs.make_subscriber({::broker::topic{"/"}}, 1000);
  endpoint ours;
  auto between = join(theirs, ours, options);
  std::atomic<count> expected{n + 1};
  count received = 0;
  std::thread reader{[&] { // Broker 2 takes no more while its subscriber does not read
    const auto until = std::chrono::steady_clock::now() + patience;
    while (received < expected && std::chrono::steady_clock::now() < until)
      received += at_theirs.get(100, ::broker::timespan{10ms}).size();
  }};
  for (count i = 0; i < n; ++i)
    (void)ours.publish("/x", i);
  CHECK(eventually([&] { return between.to_broker().queued == 0; }));
  const auto counts = between.to_broker();
  expected = counts.given;
  reader.join();
  CHECK(counts.taken == n);
  CHECK(adds_up(counts));
  CHECK(counts.full > 0);
  CHECK(received == counts.given);
  CHECK(at_theirs.available() == 0);
}

TEST_CASE("topics that this library refuses are counted") {
  auto options = everything();
  options.from_broker = {""};
  joined_ends ends{options};
  publish(ends.theirs, "reserved/<$>/topic", ::broker::count{1});
  publish(ends.theirs, "/x", ::broker::count{2});
  CHECK(next_number(ends.at_ours) == 2);
  CHECK(eventually([&] { return ends.between.from_broker().given == 1; }));
  CHECK(ends.between.from_broker().refused == 1);
}

TEST_CASE(
    "a bridge whose Broker endpoint is destroyed is closed, and the other endpoint lives on") {
  auto theirs = std::make_unique<::broker::endpoint>(quiet_broker());
  endpoint ours;
  auto at_ours = ours.make_subscriber({"/"});
  auto between = join(*theirs, ours);
  publish(*theirs, "/x", ::broker::count{0});
  CHECK(next_number(at_ours) == 0);
  theirs.reset();
  CHECK(eventually([&] { return between.closed(); }));
  CHECK(ours.publish("/x", count{1}) == publish_result::taken);
  CHECK(next_number(at_ours) == 1);
  CHECK(adds_up(between.to_broker()));
  between.close();
  CHECK(between.to_broker().queued == 0);
  CHECK_FALSE(between.wait_ready(patience));
}

TEST_CASE("a bridge whose endpoint is destroyed is closed, and Broker's lives on") {
  ::broker::endpoint theirs{quiet_broker()};
  auto ours = std::make_unique<endpoint>();
  auto between = join(theirs, *ours);
  ours.reset();
  CHECK(eventually([&] { return between.closed(); }));
  publish(theirs, "/x", ::broker::count{1});
  CHECK(eventually([&] { return between.from_broker().closed == 1; }));
  between.close();
  CHECK(adds_up(between.from_broker()));
  endpoint other;
  auto at_other = other.make_subscriber({"/"});
  auto next = join(theirs, other);
  publish(theirs, "/x", ::broker::count{2});
  CHECK(next_number(at_other) == 2);
}

TEST_CASE("a bridge that is closed has handed over what was queued") {
  constexpr count n = 500; // Broker 2 holds no more for a subscriber that does not read
  joined_ends ends;
  for (count i = 0; i < n; ++i)
    REQUIRE(ends.ours.publish("/x", i) == publish_result::taken);
  ends.between.close();
  CHECK(ends.between.closed());
  const auto counts = ends.between.to_broker();
  CHECK(counts.given == n);
  CHECK(counts.queued == 0);
  CHECK(next_of(ends.at_theirs, n).size() == n);
  REQUIRE(ends.ours.publish("/x", n) == publish_result::taken);
  publish(ends.theirs, "/y", ::broker::count{n});
  CHECK(receives_in_order(ends.at_ours, n + 1)); // and nothing from Broker
  CHECK(ends.between.to_broker().taken == n);
}

TEST_CASE("a bridge closes in time while nobody reads") {
  constexpr count n = 10'000;
  auto options = everything();
  options.from_broker_queue = {.capacity_messages = 100};
  options.close_timeout = 50ms;
  ::broker::endpoint theirs{quiet_broker()};
  endpoint ours;
  auto stuck = ours.make_subscriber({"/"}, {.capacity_messages = 10});
  auto between = join(theirs, ours, options);
  for (count i = 0; i < n; ++i)
    publish(theirs, "/x", ::broker::count{i});
  REQUIRE(eventually([&] { return between.from_broker().queued > 10; }));
  const auto begin = std::chrono::steady_clock::now();
  between.close();
  CHECK(std::chrono::steady_clock::now() - begin < patience);
  const auto counts = between.from_broker();
  CHECK(counts.queued == 0);
  CHECK(counts.closed > 0);
  CHECK(adds_up(counts));
  CHECK(stuck.available() == counts.given);
}

TEST_CASE("an endpoint behind a relay gets what Broker publishes, and Broker what it publishes") {
  joined_ends ends;
  endpoint far;
  join(far, ends.ours);
  auto at_far = far.make_subscriber({"/from/broker"});
  REQUIRE(at_far.wait_ready(patience));
  REQUIRE(ends.ours.wait_for_subscribers("/from/broker", 2, patience));
  publish(ends.theirs, "/from/broker", ::broker::count{7});
  CHECK(next_number(at_far) == 7);
  REQUIRE(far.wait_for_subscribers("/from/far", 1, patience));
  REQUIRE(far.publish("/from/far", count{8}) == publish_result::taken);
  const auto there = next_of(ends.at_theirs);
  REQUIRE(there.has_value());
  CHECK(number_in(*there) == 8);
}

TEST_CASE("a bridge takes the topics that it is told to take, and no others") {
  bridge_options options;
  options.from_broker = {"/down"};
  options.to_broker = {"/up"};
  joined_ends ends{options};
  publish(ends.theirs, "/up", ::broker::count{1});
  publish(ends.theirs, "/down", ::broker::count{2});
  CHECK(next_number(ends.at_ours) == 2);
  REQUIRE(ends.ours.publish("/down", count{3}) == publish_result::taken);
  REQUIRE(ends.ours.publish("/up", count{4}) == publish_result::taken);
  const auto there = next_of(ends.at_theirs);
  REQUIRE(there.has_value());
  CHECK(number_in(*there) == 4);
}

TEST_CASE("options of a bridge that are out of range are named") {
  const auto fault = [](auto change) {
    bridge_options options;
    change(options);
    const auto checked = check(options);
    REQUIRE_FALSE(checked.has_value());
    CHECK(checked.error().code() == errc::invalid_argument);
    return checked.error().context();
  };
  CHECK(check(bridge_options{}).has_value());
  CHECK(fault([](auto& x) {
          x.from_broker_queue.policy = overflow_policy::conflate;
        }).starts_with("from_broker_queue"));
  CHECK(fault([](auto& x) {
          x.to_broker_queue.capacity_messages = 0;
        }).starts_with("to_broker_queue"));
  CHECK(fault([](auto& x) { x.close_timeout = -1s; }).starts_with("close_timeout"));
}
