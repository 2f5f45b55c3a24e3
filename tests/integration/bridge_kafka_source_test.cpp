// Sources of Kafka, over brokers in this process.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/kafka_bridges.hpp"

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

TEST_CASE("a source publishes what was kept, and begins behind what was confirmed") {
  kafka_cluster cluster;
  cluster.make_topic("numbers", 1);
  constexpr std::uint64_t n = 5'000;
  {
    endpoint ep;
    auto to = open_sink(ep, cluster.options(), messages_on("numbers"));
    publish_numbers(ep, "numbers", n);
    REQUIRE(to.drain(patience) == 0);
  }
  source_options options;
  options.from = {"numbers"};
  options.group = "g";
  options.network = "elsewhere";
  options.publish = "replayed/{topic}";
  options.until_end = true;
  endpoint ep;
  auto sub = ep.make_subscriber({"replayed/"});
  {
    auto from = open_source(ep, cluster.reading(), options);
    CHECK(receives_in_order(sub, n));
    REQUIRE(from.wait_end(patience));
    CHECK(from.counters().delivered == n);
    CHECK(adds_up(from.counters()));
  }
  {
    endpoint publisher;
    auto to = open_sink(publisher, cluster.options(), messages_on("numbers"));
    publish_numbers(publisher, "numbers", 10);
    REQUIRE(to.drain(patience) == 0);
  }
  auto from = open_source(ep, cluster.reading(), options);
  CHECK(receives_in_order(sub, 10));
  REQUIRE(from.wait_end(patience));
  CHECK(from.counters().consumed == 10);
}

TEST_CASE("a source reads from the beginning, from a number, or only what is new") {
  kafka_cluster cluster;
  cluster.make_topic("numbers", 1);
  endpoint elsewhere;
  auto to = open_sink(elsewhere, cluster.options(), messages_on("numbers"));
  publish_numbers(elsewhere, "numbers", 100);
  REQUIRE(to.drain(patience) == 0);
  source_options options;
  options.from = {"numbers"};
  options.returned = true;
  options.until_end = true;
  std::uint64_t expected = 0;
  SUBCASE("beginning") {
    options.start.at = bridge::start_position::kind::beginning;
    expected = 100;
  }
  SUBCASE("offset") {
    options.start = *bridge::parse_start("offset:90");
    expected = 10;
  }
  SUBCASE("end") {
    options.start.at = bridge::start_position::kind::end;
    expected = 0;
  }
  endpoint ep;
  auto sub = ep.make_subscriber({"numbers"});
  auto from = open_source(ep, cluster.reading(), options);
  std::uint64_t seen = 0;
  while (!from.wait_end(0ms)) {
    const auto batch = sub.get_batch_for(1'000, 10ms);
    seen += batch ? batch->size() : 0;
  }
  seen += sub.available();
  CHECK(seen == expected);
  CHECK(from.counters().delivered == expected);
}

TEST_CASE("what a sink of the same network has written is not brought back") {
  kafka_cluster cluster;
  cluster.make_topic("t", 1);
  endpoint ep;
  auto sub = ep.make_subscriber({"t"});
  auto to = open_sink(ep, cluster.options(), messages_on("t"));
  source_options options;
  options.from = {"t"};
  options.group = "g";
  auto from = open_source(ep, cluster.reading(), options);
  publish_numbers(ep, "t", 100);
  CHECK(receives_in_order(sub, 100));
  CHECK(eventually([&] { return from.counters().rejected.returned == 100; }));
  CHECK(sub.available() == 0);
  CHECK(to.counters().consumed == 100);
  CHECK(adds_up(from.counters()));
}

TEST_CASE("records become tasks, and count as read once workers have acknowledged them") {
  kafka_cluster cluster;
  cluster.make_topic("numbers", 2);
  endpoint ep;
  {
    auto to = open_sink(ep, cluster.options(), messages_on("numbers"));
    publish_numbers(ep, "numbers", 1'000);
    REQUIRE(to.drain(patience) == 0);
  }
  source_options options;
  options.from = {"numbers"};
  options.group = "workers";
  options.pipeline = "jobs";
  options.returned = true;
  options.commit_interval = 20ms;
  options.close_timeout = 100ms;
  auto workers = task_queue::open(ep, "jobs");
  REQUIRE(workers);
  {
    auto from = open_source(ep, cluster.reading(), options);
    auto first = workers->get_for(patience); // they are not done
    REQUIRE(first);
    CHECK(from.counters().delivered == 0);
  }
  options.until_end = true;
  auto from = open_source(ep, cluster.reading(), options);
  CHECK(do_tasks(*workers, 1'000).size() == 1'000);
  REQUIRE(from.wait_end(patience));
  CHECK(from.counters().delivered == 1'000);
  auto again = open_source(ep, cluster.reading(), options);
  REQUIRE(again.wait_end(patience));
  CHECK(again.counters().consumed == 0);
}

TEST_CASE(
    "a record that cannot be read is rejected, and its bytes are published as a dead letter") {
  kafka_cluster cluster;
  cluster.make_topic("t", 1);
  endpoint ep;
  auto written = messages_on("t");
  auto to = open_sink(ep, cluster.options(), written);
  REQUIRE(ep.publish("t", data{"{\"a\":1}"}) == publish_result::taken);
  REQUIRE(to.drain(patience) == 0);
  source_options options;
  options.from = {"t"};
  options.group = "g";
  options.returned = true;
  options.format = payload_format::plain_json;
  options.dead_letters = "bad";
  auto letters = ep.make_subscriber({"bad"});
  auto from = open_source(ep, cluster.reading(), options);
  const auto letter = letters.get_for(patience);
  REQUIRE(letter);
  const auto& parts = *get_data(*letter).get_if<vector>();
  REQUIRE(parts.size() == 4);
  CHECK(parts[0] == data{"bad_payload"});
  CHECK(parts[1] == data{"t"});
  CHECK(eventually([&] { return from.counters().dead_letters == 1; }));
  CHECK(adds_up(from.counters()));
}
