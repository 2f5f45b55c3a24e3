// One endpoint without links: delivery, filters, handles.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/eventually.hpp"
#include "support/everything.hpp"
#include "support/nodes.hpp"
#include "support/published.hpp"

#include <atomic>
#include <optional>
#include <thread>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

TEST_CASE("what is promised to Broker's users compiles and works") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/topic/test"});
  sent(ep.publish("/topic/test", data{"test"}));
  auto msg = sub.get();
  auto topic = get_topic(*msg);
  auto data_ = get_data(*msg);
  CHECK(topic == "/topic/test");
  CHECK(data_ == data{"test"});
}

TEST_CASE("a subscriber gets a matching message once, however many of its prefixes match") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/a", "/a/b"});
  sub.add_topic("/a/b/c");
  CHECK(ep.publish("/a/b/c/d", count{1}) == publish_result::taken);
  CHECK(ep.publish("/x", count{2}) == publish_result::unwanted);
  CHECK(sub.available() == 1);
  CHECK(everything(sub).size() == 1);
  CHECK(sub.counters().offered == 1);
}

TEST_CASE("topics added and removed take effect for the next message") {
  endpoint ep;
  auto sub = ep.make_subscriber({});
  CHECK(ep.publish("/t", count{0}) == publish_result::unwanted);
  sub.add_topic("/t");
  CHECK(sub.filter() == filter{"/t"});
  auto pub = ep.make_publisher("/t/1");
  CHECK(pub.publish(count{1}) == publish_result::taken);
  CHECK(pub.subscribers() == 1);
  sub.remove_topic("/t/1"); // not one of its prefixes
  CHECK(pub.publish(count{2}) == publish_result::taken);
  sub.remove_topic("/t");
  CHECK(pub.publish(count{3}) == publish_result::unwanted);
  CHECK(ep.filter().empty());
  CHECK(next_number(sub) == 1);
  CHECK(next_number(sub) == 2);
  CHECK_FALSE(sub.get_for(0ms));
}

TEST_CASE("changes take effect for all topics of a publisher of many, remembered ones and others") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/a"});
  auto other = std::make_optional(ep.make_subscriber({"/b/1"}));
  const auto publish_everywhere = [&ep](int topics) {
    for (int i = 0; i < topics; ++i)
      for (const char* root : {"/a/", "/b/"})
        sent(ep.publish(root + std::to_string(i), count{1}));
  };
  publish_everywhere(1000);
  CHECK(everything(sub).size() == 1000);
  CHECK(everything(*other).size() == 111); // 1, 10..19, 100..199
  sub.add_topic("/b");
  publish_everywhere(1000);
  CHECK(everything(sub).size() == 2000);
  CHECK(everything(*other).size() == 111);
  other.reset();
  sub.remove_topic("/a");
  publish_everywhere(3000); // more than are remembered
  CHECK(everything(sub).size() == 3000);
  sub.add_topic("/a/2");
  publish_everywhere(1000);
  CHECK(everything(sub).size() == 1111);
  sub.close();
  CHECK(ep.publish("/a/2", count{1}) == publish_result::unwanted);
}

TEST_CASE("own messages can be ignored") {
  endpoint_options options;
  options.own_messages = own_messages::ignore;
  endpoint ep{options};
  auto sub = ep.make_subscriber({""});
  CHECK(ep.publish("/t", count{1}) == publish_result::unwanted);
  CHECK(sub.available() == 0);
}

TEST_CASE("reserved and over-long topics are refused") {
  endpoint ep;
  auto sub = ep.make_subscriber({""});
  CHECK(ep.publish("<$>/local/x", count{1}) == publish_result::refused);
  CHECK(ep.publish("a<$>b", count{1}) == publish_result::refused);
  CHECK(ep.publish(std::string(65'536, 't'), count{1}) == publish_result::refused);
  CHECK(ep.publish(std::string(65'535, 't'), count{1}) == publish_result::taken);
  CHECK(ep.publish("", count{1}) == publish_result::taken);
  CHECK(ep.publish("/t", data_message{}) == publish_result::refused);
  CHECK(ep.counters().refused() == 4);
  CHECK(ep.counters().published == 2);
}

TEST_CASE("a message larger than a frame may be is refused") {
  endpoint_options options;
  options.max_frame_bytes = 1000;
  endpoint ep{options};
  auto sub = ep.make_subscriber({""});
  CHECK(ep.publish("/t", std::string(2000, 'x')) == publish_result::refused);
  CHECK(ep.publish("/t", std::string(500, 'x')) == publish_result::taken);
}

TEST_CASE("trying to publish never waits and takes for all or for none") {
  endpoint ep;
  auto roomy = ep.make_subscriber({"/t"});
  auto tiny = ep.make_subscriber({"/t"}, {overflow_policy::block, 2, 1 << 20});
  auto pub = ep.make_publisher("/t");
  CHECK(pub.try_publish(count{1}) == publish_result::taken);
  CHECK(ep.try_publish("/t", count{2}) == publish_result::taken);
  CHECK(pub.try_publish(count{3}) == publish_result::would_block);
  CHECK(ep.try_publish("/t", count{3}) == publish_result::would_block);
  CHECK(roomy.available() == 2);
  CHECK(tiny.get_batch(10)->size() == 2);
  CHECK(pub.try_publish(count{3}) == publish_result::taken);
  CHECK(roomy.counters().offered == 3);
}

TEST_CASE("messages that one thread publishes through the endpoint stay in order") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/t"});
  constexpr std::uint64_t threads = 4;
  constexpr std::uint64_t each_publishes = 5000;
  std::vector<std::thread> publishers;
  for (std::uint64_t who = 0; who < threads; ++who)
    publishers.emplace_back([&, who] {
      for (std::uint64_t i = 0; i < each_publishes; ++i)
        sent(ep.publish("/t/" + std::to_string(i % 3), count{who * each_publishes + i}));
    });
  std::vector<std::uint64_t> next(threads, 0);
  for (std::uint64_t i = 0; i < threads * each_publishes; ++i) {
    const auto number = next_number(sub);
    REQUIRE(number % each_publishes == next[number / each_publishes]++);
  }
  for (auto& each : publishers)
    each.join();
  CHECK(ep.counters().published == threads * each_publishes);
}

TEST_CASE("messages of one thread stay in order beside those that others publish meanwhile") {
  endpoint ep;
  constexpr std::uint64_t rounds = 20000;
  std::vector<std::thread> publishers;
  std::atomic<std::uint64_t> in_order{0};
  for (int who = 0; who < 4; ++who)
    publishers.emplace_back([&, topic = "/t/" + std::to_string(who)] {
      auto sub = ep.make_subscriber({topic});
      std::uint64_t next = 0;
      bool right = true;
      for (std::uint64_t i = 0; i < rounds; ++i) {
        // What was read leaves room beside a run that still grows.
        for (const auto together : {1, 2}) {
          for (int each = 0; each < together; ++each)
            sent(ep.publish(topic, count{next + each}));
          for (int each = 0; each < together; ++each)
            right = next_number(sub) == next++ && right;
        }
      }
      in_order += right;
    });
  for (auto& publisher : publishers)
    publisher.join();
  CHECK(in_order == 4);
}

TEST_CASE("publishing with a timeout waits that long for room, and no longer") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/t"}, {overflow_policy::block, 2, 1 << 20});
  auto pub = ep.make_publisher("/t");
  CHECK(pub.publish_for(count{0}, patience) == publish_result::taken);
  CHECK(pub.publish_for(count{1}, patience) == publish_result::taken);
  const auto before = std::chrono::steady_clock::now();
  CHECK(pub.publish_for(count{2}, 20ms) == publish_result::would_block);
  CHECK(std::chrono::steady_clock::now() - before >= 20ms);
  std::thread reader{[&] { CHECK(receives_in_order(sub, 3)); }};
  CHECK(pub.publish_for(count{2}, patience) == publish_result::taken);
  reader.join();
  CHECK(sub.counters().offered == 3);
}

TEST_CASE("one full subscriber with a drop policy does not hold up another") {
  endpoint ep;
  auto all = ep.make_subscriber({"/t"});
  auto last = ep.make_subscriber({"/t"}, {overflow_policy::drop_oldest, 3, 1 << 20});
  auto first = ep.make_subscriber({"/t"}, {overflow_policy::drop_newest, 3, 1 << 20});
  for (std::uint64_t i = 0; i < 100; ++i)
    CHECK(ep.publish("/t", count{i}) == (i < 3 ? publish_result::taken : publish_result::dropped));
  CHECK(receives_in_order(all, 100));
  CHECK(next_number(last) == 97);
  CHECK(next_number(first) == 0);
  for (const auto& each : {last.counters(), first.counters()}) {
    CHECK(each.offered == 100);
    CHECK(each.dropped() == 97);
    CHECK(adds_up(each));
  }
}

TEST_CASE("a blocked publisher goes on when the subscriber reads or closes") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/t"}, {overflow_policy::block, 4, 1 << 20});
  std::thread publisher{[&] {
    for (std::uint64_t i = 0; i < 3000; ++i)
      sent(ep.publish("/t", count{i}));
  }};
  CHECK(receives_in_order(sub, 2000));
  sub.close();
  publisher.join();
  CHECK(adds_up(sub.counters()));
  CHECK(sub.counters().delivered == 2000);
}

TEST_CASE("a closed subscriber gives nothing out and counts what it discarded") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/t"});
  for (std::uint64_t i = 0; i < 500; ++i)
    sent(ep.publish("/t", count{i}));
  CHECK(next_number(sub) == 0); // takes some of the others along
  sub.close();
  CHECK(sub.closed());
  CHECK_FALSE(sub.get());
  CHECK(everything(sub).empty());
  CHECK(sub.available() == 0);
  CHECK(sub.counters().delivered == 1);
  CHECK(sub.counters().dropped_closed == 499);
  CHECK(sub.counters().queued == 0);
  sub.close();
  CHECK(ep.publish("/t", count{1}) == publish_result::unwanted);
}

TEST_CASE("the descriptor of a subscriber is readable while there is something to get") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/t"});
  for (std::uint64_t i = 0; i < 5; ++i)
    sent(ep.publish("/t", count{i}));
  CHECK(next_number(sub) == 0); // the others are at hand already
  const auto fd = sub.fd();
  for (std::uint64_t i = 1; i < 5; ++i) {
    CHECK(readable(fd));
    CHECK(next_number(sub) == i);
  }
  CHECK_FALSE(sub.get_for(0ms));
  CHECK_FALSE(readable(fd));
  sent(ep.publish("/t", count{5}));
  CHECK(readable(fd));
  CHECK(everything(sub).size() == 1);
  CHECK_FALSE(readable(fd));
  sub.close();
  CHECK(readable(fd));
}

TEST_CASE("counters of a subscriber add up while it is being read") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/t"}, {overflow_policy::drop_oldest, 100, 1 << 20});
  std::atomic<bool> done{false};
  std::thread publisher{[&] {
    for (std::uint64_t i = 0; !done; ++i)
      sent(ep.publish("/t", count{i}));
  }};
  std::thread observer{[&] {
    bool sane = true;
    while (!done) {
      const auto now = sub.counters();
      sane = adds_up(now) && now.delivered <= now.offered && now.queued <= now.offered && sane;
    }
    CHECK(sane);
  }};
  for (int i = 0; i < 20'000; ++i)
    CHECK(sub.get_for(patience).has_value());
  done = true;
  publisher.join();
  observer.join();
  CHECK(sub.counters().delivered == 20'000);
}

TEST_CASE("batches take at most what is asked for and keep the order") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/t"});
  for (std::uint64_t i = 0; i < 1000; ++i)
    sent(ep.publish("/t", count{i}));
  CHECK(next_number(sub) == 0);
  std::uint64_t next = 1;
  for (const std::size_t max : {1, 10, 300, 300, 389}) {
    auto batch = sub.get_batch(max);
    CHECK(batch->size() <= max);
    for (const auto& msg : *batch)
      CHECK(get_data(msg) == data{count{next++}});
  }
  for (const auto& msg : everything(sub))
    CHECK(get_data(msg) == data{count{next++}});
  CHECK(next == 1000);
  CHECK(sub.get_batch_for(10, 0ms).timed_out());
}

TEST_CASE("handles that outlive their endpoint are closed, and say so") {
  auto ep = std::make_unique<endpoint>();
  auto sub = ep->make_subscriber({"/t"});
  auto pub = ep->make_publisher("/t");
  auto events = ep->make_status_subscriber();
  sent(pub.publish(count{0}));
  ep.reset();
  CHECK(next_number(sub) == 0); // what was queued can still be read
  CHECK_FALSE(sub.get());
  CHECK(sub.closed());
  CHECK(readable(sub.fd()));
  CHECK(pub.publish(count{1}) == publish_result::refused);
  CHECK(pub.try_publish(count{1}) == publish_result::refused);
  CHECK(pub.subscribers() == 0);
  CHECK_FALSE(pub.wait_for_subscribers(1, 1h));
  CHECK_FALSE(events.get());
  sub.add_topic("/u");
  sub.close();
}

TEST_CASE("closing an endpoint ends whatever waits") {
  endpoint ep;
  auto reader = ep.make_subscriber({"/none"});
  auto full = ep.make_subscriber({"/t"}, {overflow_policy::block, 1, 1 << 20});
  auto events = ep.make_status_subscriber();
  std::vector<std::thread> waiting;
  std::atomic<int> ended{0};
  auto wait_in = [&](auto what) {
    waiting.emplace_back([&, what] {
      what();
      ++ended;
    });
  };
  wait_in([&] { CHECK_FALSE(reader.get()); });
  wait_in([&] {
    while (ep.publish("/t", count{1}) != publish_result::refused) {
    }
  });
  wait_in([&] { CHECK_FALSE(ep.wait_for_subscribers("/nobody", 1, 1h)); });
  wait_in([&] { CHECK_FALSE(ep.wait_for_peers(1, 1h)); });
  wait_in([&] { CHECK_FALSE(events.get()); });
  CHECK(eventually([&] { return full.available() == 1; }));
  ep.close();
  CHECK(eventually([&] { return ended == 5; }));
  for (auto& each : waiting)
    each.join();
  CHECK_FALSE(ep.listen("tcp://127.0.0.1:0"));
  CHECK(ep.peer("tcp://127.0.0.1:1").error() == errc::shutting_down);
  CHECK_FALSE(ep.make_subscriber({"/t"}).get());
  ep.close();
}

TEST_CASE("one message published again and again reaches queues and links every time") {
  chain nodes{2};
  auto here = nodes.front().make_subscriber({"/t"});
  auto also_here = nodes.front().make_subscriber({"/t"});
  auto there = nodes.back().make_subscriber({"/t"});
  REQUIRE(nodes.front().wait_for_subscribers("/t", 3, patience));
  auto pub = nodes.front().make_publisher("/t/1");
  auto msg = make_data_message("/t/1", data{"again"});
  for (int i = 0; i < 500; ++i)
    CHECK(pub.publish(msg) == publish_result::taken);
  mutable_data(msg) = data{"changed"};
  CHECK(pub.publish(msg) == publish_result::taken);
  for (auto* sub : {&here, &also_here, &there}) {
    for (int i = 0; i < 500; ++i) {
      const auto got = sub->get_for(patience);
      REQUIRE(got.has_value());
      CHECK(get_topic(*got) == "/t/1");
      CHECK(get_data(*got) == data{"again"});
    }
    const auto last = sub->get_for(patience);
    REQUIRE(last.has_value());
    CHECK(get_data(*last) == data{"changed"});
  }
}

TEST_CASE("a message can be published again on another topic, in either of its forms") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/"});
  auto pub = ep.make_publisher("/copy");
  data_writer out;
  out.write(data{count{2}});
  for (std::uint64_t i = 1; i <= 2; ++i) {
    sent(i == 1 ? ep.publish("/built", count{1}) : ep.publish("/bytes", out.bytes()));
    const auto original = sub.get_for(patience);
    REQUIRE(original);
    sent(pub.publish(*original));
    const auto copy = sub.get_for(patience);
    REQUIRE(copy);
    CHECK(get_topic(*copy) == "/copy");
    CHECK(get_data(*copy) == data{count{i}});
    CHECK(get_topic(*original) == (i == 1 ? "/built" : "/bytes"));
  }
}

TEST_CASE("options out of range are named by check, and make what is closed") {
  endpoint_options options;
  options.max_wire_version = 3;
  const auto fault = check(options);
  REQUIRE_FALSE(fault);
  CHECK(fault.error() == errc::invalid_argument);
  CHECK(fault.error().context().find("max_wire_version") != std::string::npos);
  endpoint ep{options};
  CHECK(ep.listen("tcp://127.0.0.1:0").error().context() == fault.error().context());
  CHECK(ep.peer("tcp://127.0.0.1:9").error().context() == fault.error().context());
  CHECK(ep.publish("/t", count{1}) == publish_result::refused);
  CHECK(ep.make_subscriber({"/t"}).get().closed());
  options = {};
  options.max_wire_version = 3;
  CHECK_FALSE(check(options));
  CHECK_FALSE(check(queue_options{.capacity_messages = 0}));
  CHECK_FALSE(check(queue_options{.capacity_bytes = 0}));
  CHECK_FALSE(check(peer_options{.retry = 0ms}));
  CHECK(check(endpoint_options{}));
  endpoint good;
  CHECK(good.make_subscriber({"/t"}, {.capacity_messages = 0}).closed());
  CHECK(good.peer("tcp://127.0.0.1:9", {.max_retry = 0ms}).error() == errc::invalid_argument);
}

TEST_CASE("a wait says whether it ended by its timeout or by the end") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/t"});
  CHECK(sub.try_get().timed_out());
  CHECK(sub.get_for(1ms).timed_out());
  CHECK(sub.try_get_batch().timed_out());
  sent(ep.publish("/t", count{1}));
  ep.close();
  CHECK(sub.try_get().has_value());
  CHECK(sub.try_get().closed());
  CHECK(sub.get().closed());
  CHECK(sub.get_batch(5).closed());
}

TEST_CASE("what a bridge_publisher publishes reaches every subscriber but its own") {
  endpoint ep;
  auto own = ep.make_subscriber({"/"});
  auto other = ep.make_subscriber({"/"});
  auto bridge = ep.make_bridge_publisher(own);
  data_writer encoded;
  encoded.write_count(1);
  CHECK(bridge.publish("/a", count{0}) == publish_result::taken);
  CHECK(bridge.publish("/b", encoded.bytes()) == publish_result::taken);
  CHECK(bridge.publish("/a", make_data_message("/a", count{2})) == publish_result::taken);
  CHECK(receives_in_order(other, 3));
  CHECK(own.available() == 0);
  CHECK(own.counters().offered == 0);
  CHECK(ep.publish("/a", count{0}) == publish_result::taken);
  CHECK(next_number(own) == 0);
  other.close();
  CHECK(bridge.publish("/a", count{3}) == publish_result::unwanted);
  CHECK(bridge.counters().published == 4);
}

TEST_CASE("a bridge_publisher outlives its subscriber, and those that come later hear it") {
  endpoint ep;
  std::optional<subscriber> own = ep.make_subscriber({"/"});
  auto bridge = ep.make_bridge_publisher(*own);
  own.reset();
  std::vector<subscriber> later;
  for (int i = 0; i < 100; ++i) // none has the address that the queue of the first one had
    later.push_back(ep.make_subscriber({"/"}));
  CHECK(bridge.publish("/a", count{0}) == publish_result::taken);
  for (auto& each : later)
    CHECK(next_number(each) == 0);
}

TEST_CASE("a bridge_publisher of a closed endpoint is refused") {
  endpoint ep;
  auto own = ep.make_subscriber({"/"});
  auto bridge = ep.make_bridge_publisher(own);
  ep.close();
  CHECK(bridge.try_publish("/a", count{0}) == publish_result::refused);
  CHECK(bridge.counters().refused_closed == 1);
}
