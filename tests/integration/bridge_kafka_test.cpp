// Sinks of Kafka, over brokers in this process.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/certificates.hpp"
#include "support/kafka_bridges.hpp"
#include "support/raw_socket.hpp"
#include "support/tls_nodes.hpp"

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

TEST_CASE("a sink writes every message once, in the order of its publisher, and says whose it is") {
  kafka_cluster cluster;
  cluster.make_topic("zeek.numbers", 4);
  endpoint ep;
  auto to = open_sink(ep, cluster.options(), messages_on("zeek/"));
  constexpr std::uint64_t n = 20'000;
  publish_numbers(ep, "zeek/numbers", n);
  CHECK(to.drain(patience) == 0);

  const auto counts = to.counters();
  CHECK(counts.consumed == n);
  CHECK(counts.delivered == n);
  CHECK(adds_up(counts));
  const auto records = read_topic(cluster.brokers(), "zeek.numbers");
  REQUIRE(records.size() == n);
  for (std::uint64_t i = 0; i < n; ++i) {
    REQUIRE(value_of(records[i]) == data{count{i}});
    REQUIRE(records[i].partition == records[0].partition);
    REQUIRE(records[i].header("pubsub-sequence") == std::to_string(i));
  }
  CHECK(records[0].header("pubsub-topic") == "zeek/numbers");
  CHECK(records[0].header("pubsub-origin").starts_with(to_string(ep.id())));
  CHECK(records[0].header("pubsub-format") == "binary");
  CHECK(records[0].header("pubsub-network") == "pubsub");
}

TEST_CASE("records of logs are written as Zeek's JSON writer has them, by path and under a field") {
  kafka_cluster cluster;
  cluster.make_topic("zeek.conn", 1);
  endpoint ep;
  auto options = messages_on("zeek/records/", payload_format::zeek_json);
  options.to = "zeek.{path}";
  SUBCASE("a column") {
    options.key = "field:uid";
  }
  SUBCASE("the community id") {
    options.key = "community_id";
  }
  auto to = open_sink(ep, cluster.options(), options);
  announce_and_publish(ep, {"CHhAvVGS1DHFjwGM9", "C4J4Th3PJpwUYZZ6gc"});
  CHECK(to.drain(patience) == 0);
  const auto records = read_topic(cluster.brokers(), "zeek.conn");
  REQUIRE(records.size() == 2);
  CHECK(
      records[0].value ==
      R"({"ts":1700000000.0,"uid":"CHhAvVGS1DHFjwGM9","id.orig_h":"128.232.110.120","id.orig_p":34855,)"
      R"("id.resp_h":"66.35.250.204","id.resp_p":80,"proto":"tcp"})");
  CHECK(records[0].key ==
        (options.key == "community_id" ? "1:LQU9qZlK+B5F3KDmev6m5PMibrg=" : "CHhAvVGS1DHFjwGM9"));
  CHECK(to.counters().rejected.announcements == 1);
  CHECK(adds_up(to.counters()));
}

TEST_CASE("what cannot be written is rejected for its reason, and kept as a dead letter") {
  kafka_cluster cluster;
  cluster.make_topic("zeek.conn", 1);
  cluster.make_topic("zeek.rejected", 1);
  endpoint ep;
  auto options = messages_on("zeek/", payload_format::zeek_json);
  options.to = "zeek.{path}";
  options.key = "field:no_such_column";
  options.dead_letters = "zeek.rejected";
  auto to = open_sink(ep, cluster.options(), options);
  REQUIRE(ep.publish("zeek/other", data{count{7}}) == publish_result::taken);
  REQUIRE(ep.publish("zeek/records/dns", zeek::make_log_event("dns", {})) == publish_result::taken);
  announce_and_publish(ep, {"C1"});
  CHECK(to.drain(patience) == 0);
  const auto counts = to.counters();
  CHECK(counts.rejected.not_a_record == 1);
  CHECK(counts.rejected.unknown_columns == 1);
  CHECK(counts.rejected.no_such_field == 1);
  CHECK(counts.dead_letters == 3);
  CHECK(counts.delivered == 0);
  CHECK(adds_up(counts));
  const auto letters = read_topic(cluster.brokers(), "zeek.rejected");
  REQUIRE(letters.size() == 3);
  CHECK(letters[0].header("pubsub-reason") == "not_a_record");
  CHECK(letters[0].header("pubsub-topic") == "zeek/other");
  CHECK(value_of(letters[0]) == data{count{7}});
  CHECK(letters[1].header("pubsub-reason") == "unknown_columns");
}

TEST_CASE("a task is done once the brokers have confirmed it, and waits while they are away") {
  kafka_cluster cluster{1};
  cluster.make_topic("jobs", 1);
  endpoint producer;
  endpoint bridging;
  join(bridging, producer);
  auto out = exchange::open(producer, "jobs");
  REQUIRE(out);
  sink_options options;
  options.pipeline = "jobs";
  options.format = payload_format::binary;
  auto to = open_sink(bridging, cluster.options(), options);
  REQUIRE(out->wait_for_queues(1, patience));
  REQUIRE(out->send(data{count{0}}));
  CHECK(out->drain(patience) == 0);

  rd_kafka_mock_broker_set_down(cluster.mock(), 1);
  for (std::uint64_t i = 1; i < 1'000; ++i)
    REQUIRE(out->send(data{count{i}}));
  CHECK(out->drain(300ms) == 999);
  CHECK(adds_up(to.counters()));
  CHECK(eventually([&] { return !to.last_problem().empty(); }));
  rd_kafka_mock_broker_set_up(cluster.mock(), 1);
  CHECK(out->drain(patience) == 0);
  CHECK(out->counters().done == 1'000);
  CHECK(to.counters().delivered == 1'000);
  CHECK(read_topic(cluster.brokers(), "jobs").size() == 1'000);
}

TEST_CASE("a batch of a logger's pipeline becomes a record for each line, and is one task") {
  kafka_cluster cluster;
  cluster.make_topic("zeek.conn", 1);
  endpoint ep;
  auto out = exchange::open(ep, "zeek-log");
  REQUIRE(out);
  sink_options options;
  options.pipeline = "zeek-log";
  options.to = "zeek.{path}";
  auto to = open_sink(ep, cluster.options(), options);
  zeek::log_batch batch{"Conn::LOG", "Log::WRITER_ASCII", "default", "conn", {}, {}};
  for (const auto& each : conn_schema().fields)
    batch.columns.push_back({each, {}, false});
  for (int i = 0; i < 5; ++i)
    batch.records.push_back(conn_record("C" + std::to_string(i)));
  const auto bytes = zeek::encode_log_batch(batch);
  REQUIRE(bytes);
  const std::string text{reinterpret_cast<const char*>(bytes->data()), bytes->size()};
  REQUIRE(out->send(data{vector{data{"zeek-bin-serializer"}, data{text}}}));
  CHECK(out->drain(patience) == 0);
  CHECK(to.drain(patience) == 0);
  const auto records = read_topic(cluster.brokers(), "zeek.conn");
  REQUIRE(records.size() == 5);
  CHECK(records[0].header("pubsub-part").empty());
  CHECK(records[4].header("pubsub-part") == "4");
  CHECK(to.counters().consumed == 1);
  CHECK(to.counters().delivered == 1);
}

TEST_CASE("a task that Kafka refuses is another worker's, or a dead letter") {
  kafka_cluster cluster;
  cluster.make_topic("jobs", 1);
  cluster.make_topic("rejected", 1);
  endpoint ep;
  exchange_options how;
  how.max_losses = 1;
  auto out = exchange::open(ep, "jobs", how);
  REQUIRE(out);
  sink_options options;
  options.pipeline = "jobs";
  options.format = payload_format::binary;
  auto engine = cluster.options();
  engine.settings["message.max.bytes"] = "2000";
  SUBCASE("without dead letters the exchange is told") {
    auto to = open_sink(ep, engine, options);
    REQUIRE(out->send(data{std::string(5'000, 'x')}));
    CHECK(out->drain(patience) == 0);
    CHECK(out->counters().dead == 1);
    CHECK(eventually([&] { return to.counters().rejected.refused >= 1; }));
    CHECK(adds_up(to.counters()));
  }
  SUBCASE("a name that Kafka does not know the task under is refused, too") {
    options.dead_letters = "rejected";
    options.to = std::string(300, 'x');
    auto to = open_sink(ep, engine, options);
    REQUIRE(out->send(data{count{1}}));
    CHECK(out->drain(patience) == 0);
    CHECK(out->counters().dead == 0);
    CHECK(to.counters().rejected.bad_name == 1);
    CHECK(to.counters().dead_letters == 1);
    CHECK(read_topic(cluster.brokers(), "rejected").size() == 1);
  }
}

TEST_CASE("while the brokers are away a full queue holds publishers back, and nothing is lost") {
  kafka_cluster cluster{1};
  cluster.make_topic("t", 1);
  endpoint ep;
  auto options = messages_on("t");
  options.queue.capacity_messages = 100;
  auto engine = cluster.options();
  engine.settings["queue.buffering.max.messages"] = "200";
  auto to = open_sink(ep, engine, options);
  rd_kafka_mock_broker_set_down(cluster.mock(), 1);
  auto pub = ep.make_publisher("t");
  std::uint64_t sent = 0;
  while (pub.publish_for(data{count{sent}}, 2s) == publish_result::taken)
    ++sent;
  CHECK(sent >= 200);
  CHECK(sent < 5'000);
  rd_kafka_mock_broker_set_up(cluster.mock(), 1);
  CHECK(to.drain(patience) == 0);
  const auto records = read_topic(cluster.brokers(), "t");
  REQUIRE(records.size() == sent);
  for (std::uint64_t i = 0; i < sent; ++i)
    REQUIRE(value_of(records[i]) == data{count{i}});
}

TEST_CASE("values alone, of any size and for several topics, are each written once and in order") {
  kafka_cluster cluster;
  cluster.make_topic("t.a", 1);
  cluster.make_topic("t.b", 1);
  endpoint ep;
  auto engine = cluster.options();
  engine.settings["queue.buffering.max.messages"] = "300"; // often full
  auto to = open_sink(ep, engine, bare_messages_on("t/"));
  constexpr std::uint64_t n = 3'000;
  const auto topic_of = [](std::uint64_t i) { return i / 7 % 2 == 0 ? "t/a" : "t/b"; };
  for (std::uint64_t i = 0; i < n; ++i)
    REQUIRE(ep.publish(topic_of(i), value_of_some_size(i)) == publish_result::taken);
  CHECK(to.drain(patience) == 0);

  CHECK(to.counters().delivered == n);
  CHECK(adds_up(to.counters()));
  const auto a = read_topic(cluster.brokers(), "t.a");
  const auto b = read_topic(cluster.brokers(), "t.b");
  REQUIRE(a.size() + b.size() == n);
  auto next_a = a.begin();
  auto next_b = b.begin();
  for (std::uint64_t i = 0; i < n; ++i) {
    const auto& record = i / 7 % 2 == 0 ? *next_a++ : *next_b++;
    REQUIRE(value_of(record) == value_of_some_size(i));
    REQUIRE(record.key.empty());
    REQUIRE(record.headers.empty());
  }
}

TEST_CASE("of values alone those that Kafka refuses are rejected, and the others are written") {
  kafka_cluster cluster;
  cluster.make_topic("t", 1);
  endpoint ep;
  auto engine = cluster.options();
  engine.settings["message.max.bytes"] = "2000";
  auto to = open_sink(ep, engine, bare_messages_on("t"));
  constexpr std::uint64_t n = 1'000;
  constexpr std::uint64_t too_large = n / 50;
  auto pub = ep.make_publisher("t");
  for (std::uint64_t i = 0; i < n; ++i)
    REQUIRE(pub.publish(value_of_some_size(i)) == publish_result::taken);
  CHECK(to.drain(patience) == 0);
  CHECK(to.counters().rejected.refused == too_large);
  CHECK(to.counters().delivered == n - too_large);
  CHECK(adds_up(to.counters()));
  const auto records = read_topic(cluster.brokers(), "t");
  REQUIRE(records.size() == n - too_large);
  auto next = records.begin();
  for (std::uint64_t i = 0; i < n; ++i)
    if (i % 50 != 0)
      REQUIRE(value_of(*next++) == value_of_some_size(i));
}

TEST_CASE("a sink that ends while records are on their way has written whole ones") {
  kafka_cluster cluster{1};
  cluster.make_topic("t", 1);
  rd_kafka_mock_broker_set_rtt(cluster.mock(), 1, 200); // so some are on their way at any time
  endpoint ep;
  bridge::bridge_counters counts;
  {
    auto options = bare_messages_on("t");
    options.close_timeout = 0ns;
    auto to = open_sink(ep, cluster.options(), options);
    auto pub = ep.make_publisher("t");
    for (std::uint64_t i = 0; i < 200; ++i)
      REQUIRE(pub.publish(value_of_some_size(50 * i)) == publish_result::taken);
    REQUIRE(eventually([&] { return to.counters().delivered > 0; }));
    to.close();
    counts = to.counters();
  }
  CHECK(counts.in_flight > 0);
  CHECK(adds_up(counts));
  const auto records = read_topic(cluster.brokers(), "t");
  CHECK(records.size() >= counts.delivered);
  for (std::size_t i = 0; i < records.size(); ++i)
    REQUIRE(value_of(records[i]) == value_of_some_size(50 * i));
}

TEST_CASE("a sink leaves out what sources of its endpoint publish where it is told so") {
  kafka_cluster cluster;
  cluster.make_topic("t", 1);
  endpoint ep;
  auto options = messages_on("t");
  options.except_own = true;
  auto to = open_sink(ep, cluster.options(), options);
  endpoint other;
  join(other, ep);
  REQUIRE(to.wait_ready(patience));
  REQUIRE(other.wait_for_subscribers("t", 1, patience));
  publish_numbers(ep, "t", 5);
  publish_numbers(other, "t", 3);
  REQUIRE(eventually([&] { return to.counters().consumed == 8 && to.counters().in_flight == 0; }));
  CHECK(to.counters().rejected.returned == 5);
  CHECK(to.counters().delivered == 3);
}

TEST_CASE("a sink takes only what fulfils its condition") {
  kafka_cluster cluster;
  cluster.make_topic("t", 1);
  endpoint ep;
  auto options = messages_on("t");
  auto where = condition::make("$ >= 7");
  REQUIRE_MESSAGE(where, where.error().message());
  options.where = *std::move(where);
  auto to = open_sink(ep, cluster.options(), options);
  publish_numbers(ep, "t", 10);
  REQUIRE(to.drain(patience) == 0);
  CHECK(to.counters().consumed == 3);
  const auto records = read_topic(cluster.brokers(), "t");
  REQUIRE(records.size() == 3);
  for (std::size_t i = 0; i < records.size(); ++i)
    CHECK(value_of(records[i]) == data{count{i + 7}});
}

TEST_CASE("a bridge that does not trust Kafka's certificate comes to its end, and says why") {
  authority ours{"ours"}, another{"another"};
  endpoint broker{with(ours.issue("broker", {}, 86'400, "IP:127.0.0.1"))}; // as far as TLS goes
  bridge::kafka options;
  options.brokers = "127.0.0.1:" + std::to_string(listen_tls(broker));
  options.settings = {{"security.protocol", "SSL"}, {"ssl.ca.location", another.ca_file()}};
  endpoint ep;
  auto to = open_sink(ep, options, messages_on("t"));
  source_options reading;
  reading.from = {"t"};
  reading.group = "g";
  auto from = open_source(ep, options, reading);
  CHECK(eventually([&] { return to.closed() && from.closed(); }));
  for (const auto& failure : {to.failure(), from.failure()}) {
    CHECK(failure == errc::denied);
    CHECK(failure.context().find("certificate verify failed") != std::string::npos);
  }
}

TEST_CASE("a bridge that was there before a Kafka it does not trust comes to its end, too") {
  authority ours{"ours"}, another{"another"};
  const auto port = std::to_string(unused_port());
  bridge::kafka options;
  options.brokers = "127.0.0.1:" + port;
  options.settings = {{"security.protocol", "SSL"}, {"ssl.ca.location", another.ca_file()}};
  endpoint ep;
  auto to = open_sink(ep, options, messages_on("t"));
  REQUIRE(
      eventually([&] { return to.last_problem().find("brokers are down") != std::string::npos; }));
  CHECK(!to.closed());
  endpoint broker{with(ours.issue("broker", {}, 86'400, "IP:127.0.0.1"))}; // as far as TLS goes
  REQUIRE(broker.listen("tls://127.0.0.1:" + port).has_value());
  CHECK(eventually([&] { return to.closed(); }));
  CHECK(to.failure() == errc::denied);
  CHECK(to.failure().context().find("certificate verify failed") != std::string::npos);
}

TEST_CASE("tasks in transactions are there once, whatever became of the sink between") {
  kafka_cluster cluster{1};
  cluster.make_topic("jobs", 1);
  cluster.make_topic("pubsub.positions", 1);
  endpoint ep;
  auto out = exchange::open(ep, "jobs");
  REQUIRE(out);
  sink_options options;
  options.pipeline = "jobs";
  options.format = payload_format::binary;
  options.close_timeout = 0ms;
  auto engine = cluster.options();
  engine.transactional_id = "sink of jobs";
  {
    auto to = open_sink(ep, engine, options);
    for (std::uint64_t i = 0; i < 500; ++i)
      REQUIRE(out->send(data{count{i}}));
    REQUIRE(out->drain(patience) == 0);
  }
  const auto positions = read_topic(cluster.brokers(), "pubsub.positions");
  REQUIRE(!positions.empty());
  CHECK(positions.back().key == to_string(out->id()));
  CHECK(positions.back().value == "499");
  auto to = open_sink(ep, engine, options);
  for (std::uint64_t i = 500; i < 1'000; ++i)
    REQUIRE(out->send(data{count{i}}));
  REQUIRE(out->drain(patience) == 0);
  const auto records = read_topic(cluster.brokers(), "jobs");
  REQUIRE(records.size() == 1'000);
  for (std::uint64_t i = 0; i < 1'000; ++i)
    REQUIRE(value_of(records[i]) == data{count{i}});
  CHECK(to.counters().delivered == 500);
}

TEST_CASE("options that do not fit together are refused with a sentence") {
  endpoint ep;
  const bridge::kafka engine;
  const auto why_not = [&](const sink_options& options, const bridge::kafka& to) {
    const auto result = sink::open(ep, to, options);
    REQUIRE(!result);
    CHECK(result.error() == errc::invalid_argument);
    return result.error().context();
  };
  CHECK(why_not({}, engine).find("topics, pipeline") != std::string::npos);
  auto options = messages_on("t");
  options.to = "{nothing}";
  CHECK(why_not(options, engine).find("{nothing} is none of {topic}, {path}, {event}") !=
        std::string::npos);
  options.to = "a}";
  CHECK(why_not(options, engine).find("brace") != std::string::npos);
  options = messages_on("t");
  options.key = "uid";
  CHECK(why_not(options, engine).find("field:NAME") != std::string::npos);
  bridge::kafka strange = engine;
  strange.settings["no.such.setting"] = "1";
  CHECK(why_not(messages_on("t"), strange).find("no.such.setting") != std::string::npos);
  bridge::kafka unsafe = engine;
  unsafe.settings["enable.idempotence"] = "false";
  CHECK(why_not(messages_on("t"), unsafe).find("enable.idempotence is true here") !=
        std::string::npos);
  bridge::kafka transactional = engine;
  transactional.transactional_id = "x";
  CHECK(why_not(messages_on("t"), transactional).find("pipeline") != std::string::npos);
  CHECK(!bridge::parse_start("yesterday"));
  CHECK(!bridge::parse_start("offset:"));
  CHECK(bridge::parse_start("time:2026-11-28T01:00:00Z")->time ==
        bridge::parse_start("time:1795827600")->time);
}
