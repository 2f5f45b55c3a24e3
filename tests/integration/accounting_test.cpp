// published == delivered + dropped(reason): for every policy, here and over relays, to the message.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/published.hpp"

#include <atomic>
#include <thread>

#include <pubsub/data_writer.hpp>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

constexpr overflow_policy every_policy[] = {overflow_policy::block, overflow_policy::drop_oldest,
                                            overflow_policy::drop_newest, overflow_policy::conflate,
                                            overflow_policy::disconnect};
constexpr overflow_policy isolating[] = {overflow_policy::drop_oldest, overflow_policy::drop_newest,
                                         overflow_policy::conflate, overflow_policy::disconnect};

queue_options tiny(overflow_policy policy) {
  return {policy, 8, 1 << 20};
}

link_counters link_between(const endpoint& from, const endpoint& to) {
  for (const auto& each : from.peers())
    if (each.id == to.id())
      return each.counters;
  return {};
}

/// Takes small batches in a thread of its own until told to stop and nothing is left.
class slow_consumer {
public:
  explicit slow_consumer(subscriber& source) : thread_{[this, &source] { run(source); }} {}
  ~slow_consumer() { stop(); }
  std::uint64_t stop() {
    stopping_ = true;
    if (thread_.joinable())
      thread_.join();
    return messages_;
  }

private:
  void run(subscriber& source) {
    while (true) {
      const bool last = stopping_;
      const auto some = source.try_get_batch(3);
      messages_ += some ? some->size() : 0;
      if (!some && last)
        return;
      std::this_thread::yield();
    }
  }

  std::atomic<bool> stopping_{false};
  std::uint64_t messages_ = 0;
  std::thread thread_;
};

/// Publishes numbers in both forms.
void publish_many(publisher& to, std::uint64_t from, std::uint64_t end) {
  for (auto i = from; i < end; ++i) {
    if (i % 3 != 0) {
      sent(to.publish(data{payload(i)}));
      continue;
    }
    data_writer out;
    out.write(data{payload(i)});
    sent(to.publish(out.bytes()));
  }
}

} // namespace

TEST_CASE("local: every message published is delivered or counted, whatever the policy") {
  constexpr std::uint64_t messages = 20'000;
  for (const auto policy : every_policy) {
    endpoint ep;
    auto sub = ep.make_subscriber({"/t"}, tiny(policy));
    auto one = ep.make_publisher("/t/1");
    auto two = ep.make_publisher("/t/2");
    slow_consumer consumer{sub};
    std::thread other{[&] { publish_many(two, 0, messages); }};
    publish_many(one, 0, messages);
    other.join();
    const auto got = consumer.stop();
    const auto end = sub.counters();
    CHECK(end.delivered == got);
    CHECK(end.queued == 0);
    CHECK(adds_up(end));
    const auto first = one.counters();
    const auto second = two.counters();
    CHECK(first.published + second.published == 2 * messages);
    const auto unwanted = first.unwanted + second.unwanted; // after a queue has disconnected
    CHECK(end.offered + unwanted == 2 * messages);
    CHECK((policy == overflow_policy::disconnect || unwanted == 0));
    CHECK((policy != overflow_policy::block || end.dropped() == 0));
    const auto all = ep.counters();
    CHECK(all.published == 2 * messages);
    CHECK(all.unwanted == unwanted);
    CHECK(all.dropped == first.dropped + second.dropped);
    CHECK(all.subscribers.offered == end.offered);
    CHECK(all.subscribers.dropped() == end.dropped());
  }
}

TEST_CASE("a full queue names its reason, and only that") {
  endpoint ep;
  for (const auto policy : isolating) {
    auto sub = ep.make_subscriber({"/t"}, tiny(policy));
    auto pub = ep.make_publisher("/t");
    for (std::uint64_t i = 0; i < 20; ++i)
      sent(pub.publish(count{i}));
    const auto c = sub.counters();
    CHECK(c.dropped_oldest == (policy == overflow_policy::drop_oldest ? 12 : 0));
    CHECK(c.dropped_newest == (policy == overflow_policy::drop_newest ? 12 : 0));
    CHECK(c.conflated == (policy == overflow_policy::conflate ? 19 : 0));
    CHECK(c.dropped_overflow == (policy == overflow_policy::disconnect ? 1 : 0));
    CHECK(adds_up(c));
  }
  CHECK(ep.counters().subscribers.dropped() == 2 * 12 + 19 + 1 + 8 + 8 + 1 + 8); // and when closed
}

TEST_CASE(
    "a subscriber that disconnects ends after what it holds, and costs its publishers nothing") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/t"}, tiny(overflow_policy::disconnect));
  for (std::uint64_t i = 0; i < 8; ++i)
    CHECK(ep.publish("/t", count{i}) == publish_result::taken);
  CHECK_FALSE(sub.closed());
  CHECK(ep.publish("/t", count{8}) == publish_result::dropped);
  CHECK(sub.closed());
  CHECK(ep.publish("/t", count{9}) == publish_result::unwanted);
  CHECK(ep.subscribers("/t") == 0);
  CHECK(receives_in_order(sub, 8));
  CHECK_FALSE(sub.get());
  CHECK(sub.counters().delivered == 8);
  CHECK(sub.counters().dropped_overflow == 1);
}

TEST_CASE("over relays: links and subscriber account for every message, whatever the policy") {
  for (const std::size_t relays : {1, 2})
    for (const auto policy : every_policy) {
      if (policy == overflow_policy::disconnect)
        continue; // ends the link: see below
      endpoint_options options;
      options.link_queue = tiny(policy);
      chain nodes{relays + 2, options};
      auto sub = nodes.back().make_subscriber({"/t"}, tiny(policy));
      auto pub = nodes.front().make_publisher("/t");
      REQUIRE(pub.wait_for_subscribers(1, patience));
      sent(pub.publish(count{0})); // from here on the stream is known
      REQUIRE(sub.get_for(patience));
      constexpr std::uint64_t messages = 10'000;
      slow_consumer consumer{sub};
      publish_many(pub, 1, messages);
      // Everything has left the first outbox, then the second, and so on; then the subscriber.
      std::uint64_t on_the_way = 0;
      auto passed = messages;
      for (std::size_t i = 0; i + 1 < nodes.all.size(); ++i) {
        const auto& from = *nodes.all[i];
        const auto& to = *nodes.all[i + 1];
        CHECK(eventually([&] {
          const auto out = link_between(from, to);
          return out.offered == passed && out.queued == 0 &&
                 link_between(to, from).received == out.sent;
        }));
        const auto out = link_between(from, to);
        CHECK(adds_up(out));
        on_the_way += out.dropped();
        passed = out.sent;
        CHECK(to.counters().received == passed);
        CHECK(from.counters().links.dropped() == out.dropped());
      }
      CHECK(eventually([&] { return sub.counters().offered == passed; }));
      const auto got = 1 + consumer.stop();
      const auto end = sub.counters();
      CHECK(end.delivered == got);
      CHECK(adds_up(end));
      CHECK(messages == end.delivered + end.dropped() + on_the_way);
      CHECK((policy != overflow_policy::block || end.dropped() + on_the_way == 0));
      // The subscriber itself sees what the links have dropped once another message arrives.
      sent(pub.publish(count{1}));
      REQUIRE(sub.get_for(patience));
      CHECK(sub.counters().missed == on_the_way);
      CHECK(sub.counters().restarts == 0);
      CHECK(pub.counters().published == messages + 1);
      CHECK(pub.counters().unwanted == 0);
    }
}

TEST_CASE("a peer that does not keep up is disconnected, with a reason, and all is counted") {
  endpoint slow;
  endpoint fast;
  auto sub = slow.make_subscriber({"/t"}, tiny(overflow_policy::block)); // nobody reads
  auto events = fast.make_status_subscriber();
  peer_options options;
  options.retry.reset();
  options.link_queue = tiny(overflow_policy::disconnect);
  REQUIRE(fast.peer(listen(slow), options));
  auto pub = fast.make_publisher("/t");
  REQUIRE(pub.wait_for_subscribers(1, patience));
  std::uint64_t published = 0;
  CHECK(eventually([&] {
    for (int i = 0; i < 1000; ++i, ++published)
      sent(pub.publish(payload(published)));
    return fast.peers().empty();
  }));
  const auto event = next_error(events);
  REQUIRE(event);
  CHECK(event->failure() == errc::limit_exceeded);
  CHECK(event->message() == "the peer did not keep up");
  const auto all = fast.counters();
  CHECK(all.links.dropped_overflow > 0);
  CHECK(adds_up(all.links));
  CHECK(all.links.offered + all.unwanted == published);
}

TEST_CASE("a subscriber that stops reading slows nobody unless its policy is block") {
  for (const auto policy : isolating) {
    endpoint ep;
    auto stuck = ep.make_subscriber({"/t"}, tiny(policy));
    auto reads = ep.make_subscriber({"/t"});
    auto pub = ep.make_publisher("/t");
    constexpr std::uint64_t messages = 20'000;
    std::thread publishing{[&] {
      for (std::uint64_t i = 0; i < messages; ++i)
        sent(pub.publish(count{i}));
    }};
    CHECK(receives_in_order(reads, messages));
    publishing.join();
    CHECK(reads.counters().dropped() == 0);
    CHECK(stuck.counters().delivered == 0);
    CHECK(adds_up(stuck.counters()));
  }
}

TEST_CASE("a peer that stops reading slows nobody unless the policy of its link is block") {
  for (const auto policy : isolating) {
    endpoint from;
    endpoint stuck;
    endpoint reads;
    auto unread = stuck.make_subscriber({"/t"}, tiny(overflow_policy::block));
    auto sub = reads.make_subscriber({"/t"});
    peer_options options;
    options.retry.reset();
    options.link_queue = tiny(policy);
    REQUIRE(from.peer(listen(stuck), options));
    REQUIRE(from.peer(listen(reads)));
    auto pub = from.make_publisher("/t");
    REQUIRE(pub.wait_for_subscribers(2, patience));
    constexpr std::uint64_t messages = 30'000; // 15 MB: more than the socket buffers hold
    std::thread publishing{[&] {
      for (std::uint64_t i = 0; i < messages; ++i)
        sent(pub.publish(payload(i)));
    }};
    for (std::uint64_t i = 0; i < messages; ++i) {
      const auto msg = sub.get_for(patience);
      REQUIRE(msg);
      REQUIRE(get_data(*msg) == data{payload(i)});
    }
    publishing.join();
    CHECK(sub.counters().missed == 0);
    const auto links = from.counters().links;
    CHECK(links.offered == links.sent + links.dropped() + links.queued);
    CHECK(links.dropped() > 0);
  }
}

TEST_CASE("a publisher counts every attempt once, and refusals by their cause") {
  endpoint_options options;
  options.max_frame_bytes = 1000;
  endpoint ep{options};
  auto sub = ep.make_subscriber({"/t"}, {overflow_policy::block, 2, 1 << 20});
  auto pub = ep.make_publisher("/t");
  auto reserved = ep.make_publisher("a<$>b");
  CHECK(reserved.publish(count{1}) == publish_result::refused);
  CHECK(pub.publish(std::string(2000, 'x')) == publish_result::refused);
  CHECK(pub.publish(data_message{}) == publish_result::refused);
  CHECK(pub.publish(count{1}) == publish_result::taken);
  CHECK(pub.publish_for(make_data_message("/t", count{2}), patience) == publish_result::taken);
  CHECK(pub.try_publish(count{3}) == publish_result::would_block);
  CHECK(pub.try_publish(make_data_message("/t", count{3})) == publish_result::would_block);
  CHECK(pub.publish_for(make_data_message("/t", count{3}), 1ms) == publish_result::would_block);
  CHECK(ep.publish_for("/t", count{3}, 1ms) == publish_result::would_block);
  CHECK(ep.publish_for("/t", make_data_message("/t", count{3}), 1ms) ==
        publish_result::would_block);
  CHECK(ep.try_publish("/t", make_data_message("/t", count{3})) == publish_result::would_block);
  CHECK(ep.publish_for("/nobody", count{3}, 1ms) == publish_result::unwanted);
  CHECK(ep.publish("/nobody", make_data_message("/t", count{3})) == publish_result::unwanted);
  ep.close();
  CHECK(pub.publish(count{4}) == publish_result::refused);
  const auto c = pub.counters();
  CHECK(c.published == 2);
  CHECK(c.unwanted == 0);
  CHECK(c.would_block == 3);
  CHECK(c.refused_topic == 0);
  CHECK(c.refused_size == 1);
  CHECK(c.refused_empty == 1);
  CHECK(c.refused_closed == 1);
  CHECK(c.refused() == 3);
  CHECK(reserved.counters().refused_topic == 1);
  const auto all = ep.counters();
  CHECK(all.published == 4);
  CHECK(all.would_block == 6);
  CHECK(all.refused() == 4);
}

TEST_CASE("a message tells who published it and its number, over any number of relays") {
  chain nodes{3};
  auto sub = nodes.back().make_subscriber({"/a", "/b"});
  auto pub = nodes.front().make_publisher("/a");
  REQUIRE(pub.wait_for_subscribers(1, patience));
  std::optional<std::uint32_t> stream;
  for (std::uint64_t i = 0; i < 100; ++i)
    sent(pub.publish(count{i}));
  for (std::uint64_t i = 0; i < 100; ++i) {
    const auto msg = sub.get_for(patience);
    REQUIRE(msg);
    const auto origin = get_origin(*msg);
    REQUIRE(origin);
    CHECK(origin->endpoint == nodes.front().id());
    CHECK(origin->sequence == i);
    CHECK(stream.value_or(origin->stream) == origin->stream);
    stream = origin->stream;
  }
  for (std::uint64_t i = 0; i < 10; ++i)
    sent(nodes.front().publish(i % 2 == 0 ? "/a" : "/b", count{i}));
  std::optional<message_origin> last;
  for (std::uint64_t i = 0; i < 10; ++i) {
    const auto msg = sub.get_for(patience);
    REQUIRE(msg);
    const auto origin = get_origin(*msg);
    REQUIRE(origin);
    CHECK(origin->stream != *stream);
    if (i > 1)
      CHECK(*origin == message_origin{last->endpoint, last->stream, last->sequence + 1});
    last = origin;
  }
  CHECK(sub.counters().missed == 0);
}

TEST_CASE("messages of this process have an origin where they are encoded, built ones have none") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/t"});
  auto pub = ep.make_publisher("/t");
  data_writer out;
  out.write(data{count{1}});
  sent(pub.publish(out.bytes()));
  sent(pub.publish(out.bytes()));
  sent(pub.publish(count{1}));
  CHECK(get_origin(*sub.get_for(patience))->sequence == 0);
  const auto second = get_origin(*sub.get_for(patience));
  CHECK(second->sequence == 1);
  CHECK(second->endpoint == ep.id());
  CHECK_FALSE(get_origin(*sub.get_for(patience)));
  CHECK_FALSE(get_origin(data_message{}));
}

TEST_CASE("a cursor tells the origins that are told one by one, in whatever order it is asked") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/t"});
  auto first = ep.make_publisher("/t");
  auto second = ep.make_publisher("/t/2");
  data_writer out;
  out.write_string(std::string(1000, 'x'));
  for (int i = 0; i < 300; ++i) { // more than one run of each
    sent(first.publish(out.bytes()));
    if (i % 7 == 0)
      sent(second.publish(out.bytes()));
  }
  sent(first.publish(count{1})); // has none
  const auto messages = sub.try_get_batch();
  REQUIRE(messages);
  REQUIRE(messages->size() == 344);
  origin_cursor forward;
  for (const auto& msg : *messages)
    CHECK(forward.origin_of(msg) == get_origin(msg));
  origin_cursor backward;
  for (auto i = messages->size(); i-- > 0;)
    CHECK(backward.origin_of((*messages)[i]) == get_origin((*messages)[i]));
  CHECK(get_origin(messages->front())->sequence == 0);
}

TEST_CASE("what is published while a topic is not wanted is not missed") {
  chain nodes{2};
  auto sub = nodes.back().make_subscriber({"/a"});
  auto other = nodes.front().make_subscriber({"/a"}, tiny(overflow_policy::drop_oldest));
  auto pub = nodes.front().make_publisher("/a");
  REQUIRE(pub.wait_for_subscribers(2, patience));
  data_writer out;
  out.write(data{count{1}});
  sent(pub.publish(out.bytes()));
  REQUIRE(sub.get_for(patience));
  sub.remove_topic("/a");
  CHECK(eventually([&] { return pub.subscribers() == 1; }));
  for (int i = 0; i < 10; ++i)
    sent(pub.publish(out.bytes())); // numbered, for the other one
  sub.add_topic("/a");
  REQUIRE(pub.wait_for_subscribers(2, patience));
  sent(pub.publish(out.bytes()));
  const auto msg = sub.get_for(patience);
  REQUIRE(msg);
  CHECK(get_origin(*msg)->sequence == 11);
  CHECK(sub.counters().missed == 0);
}
