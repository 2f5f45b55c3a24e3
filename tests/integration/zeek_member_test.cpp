// What the Zeek plugin does in the network, with real endpoints and without a Zeek.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"

#include <poll.h>

#include <map>
#include <memory>
#include <set>

#include <pubsub/data_writer.hpp>
#include <pubsub/zeek/event.hpp>
#include <pubsub/zeek/log.hpp>

#include "member.hpp"

using namespace pubsub;
using namespace pubsub::test;
using namespace pubsub::zeek::backend;
using namespace std::chrono_literals;

namespace {

std::vector<std::byte> encode(const data& value) {
  data_writer to;
  to.write(value);
  return to.take();
}

std::vector<std::byte> event_bytes(std::string name, vector args = {}) {
  return encode(zeek::make_event(std::move(name), std::move(args)));
}

formatted_bytes as_event(const std::vector<std::byte>& bytes) {
  return {value_format, bytes};
}

/// Keeps what a member has for Zeek.
class kept final : public member_handler {
public:
  struct message {
    std::string topic;
    std::string format;
    std::vector<std::byte> bytes;
  };

  void event(std::string_view topic, const formatted_bytes& what) override {
    events.push_back({std::string{topic}, std::string{what.format},
                      std::vector<std::byte>(what.bytes.begin(), what.bytes.end())});
  }
  void log_batch(const formatted_bytes& what) override {
    batches.emplace_back(reinterpret_cast<const char*>(what.bytes.data()), what.bytes.size());
  }
  void node_ready(std::string_view id) override { nodes.emplace(id); }
  void node_lost(std::string_view id) override {
    nodes.erase(std::string{id});
    lost.emplace(id);
  }
  void link_failed(std::string_view what) override { links.emplace_back(what); }

  std::vector<message> events;
  std::vector<std::string> batches;
  std::set<std::string> nodes;
  std::multiset<std::string> lost;
  std::vector<std::string> links;
};

/// A member and what it was given; a cluster node subscribes to its own topic, as Zeek's scripts
/// do.
struct node {
  explicit node(member_options options = {}, member_place place = {}) {
    it.emplace(std::move(options), got);
    it->subscribe("zeek/cluster/nodeid/" + id() + "/");
    REQUIRE(it->start(std::move(place)).has_value());
  }
  std::string id() const { return to_string(it->id()); }
  std::string address() {
    const auto all = it->addresses_for_own_clients();
    REQUIRE(all.has_value());
    return all->front();
  }
  bool publish(std::string_view topic, const std::vector<std::byte>& event) {
    return it->publish(topic, as_event(event));
  }
  bool write_log(std::string_view bytes) {
    return it->publish_logs({"some-format", std::as_bytes(std::span{bytes})});
  }

  kept got;
  std::optional<member> it;
};

member_place connected_to(node& hub) {
  return {.listen = {}, .connect = {hub.address()}};
}

/// What Zeek's main loop does, for several at once, until `met` holds.
template <class Condition>
bool run(std::initializer_list<node*> all, Condition met) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!met()) {
    if (std::chrono::steady_clock::now() > until)
      return false;
    std::vector<pollfd> fds;
    for (auto* each : all)
      fds.push_back({each->it->fd(), POLLIN, 0});
    ::poll(fds.data(), fds.size(), 10);
    for (auto* each : all)
      each->it->process(100);
  }
  return true;
}

/// A batch in the form that is published record by record.
std::vector<std::byte> record_batch(std::string path, vector columns, vector records) {
  return encode(vector{data{"Some::LOG"}, data{"Log::WRITER_ASCII"}, data{"default"},
                       data{std::move(path)}, data{std::move(columns)}, data{std::move(records)}});
}

} // namespace

TEST_CASE("events of a Zeek process reach the others over the hub, and not itself") {
  node hub;
  node first{{}, connected_to(hub)};
  node second{{}, connected_to(hub)};
  first.it->subscribe("zeek/cluster/worker");
  second.it->subscribe("zeek/cluster/worker");
  REQUIRE(run({&hub, &first, &second}, [&] {
    return first.it->node().subscribers("zeek/cluster/worker") == 2 &&
           hub.got.nodes == std::set{first.id(), second.id()};
  }));
  const auto ping = event_bytes("ping", {data{count{1}}});
  CHECK(first.publish("zeek/cluster/worker", ping));
  CHECK(run({&hub, &first, &second}, [&] { return second.got.events.size() == 1; }));
  CHECK(second.got.events.front().topic == "zeek/cluster/worker");
  CHECK(second.got.events.front().format == value_format);
  CHECK(second.got.events.front().bytes == ping);
  CHECK(first.got.events.empty());
  CHECK(hub.got.events.empty());
  CHECK(first.publish("nobody/wants/this", ping));
  CHECK(first.it->events().unwanted == 1);
  CHECK(first.it->events().published == 2);
}

TEST_CASE("Zeek processes see each other come and go at any distance, and no other programs") {
  node hub;
  node worker{{}, connected_to(hub)};
  endpoint program{forwarding_on()};
  REQUIRE(program.peer(hub.address()).has_value());
  auto sub = program.make_subscriber({"zeek/cluster/"});
  auto late = std::make_unique<node>(member_options{}, connected_to(hub));
  const auto id = late->id();
  REQUIRE(run({&hub, &worker, late.get()}, [&] {
    return worker.got.nodes == std::set{hub.id(), id} && late->got.nodes.size() == 2;
  }));
  late.reset();
  CHECK(run({&hub, &worker}, [&] { return worker.got.nodes == std::set{hub.id()}; }));
  CHECK(worker.got.lost == std::multiset{id});
  CHECK(hub.got.nodes == std::set{worker.id()});
}

TEST_CASE("a node that wants the topic of another is not that other") {
  node hub;
  const auto other = endpoint_id::random();
  endpoint liar{forwarding_on()};
  REQUIRE(liar.peer(hub.address()).has_value());
  auto false_name = liar.make_subscriber({"zeek/cluster/nodeid/" + to_string(other) + "/"});
  auto true_name = liar.make_subscriber({"zeek/cluster/nodeid/" + to_string(liar.id()) + "/"});
  CHECK(run({&hub}, [&] { return !hub.got.nodes.empty(); }));
  CHECK(hub.got.nodes == std::set{to_string(liar.id())});
}

TEST_CASE("a greeting counts while its node is in reach, and not afterwards") {
  node hub;
  const auto topic = "zeek/cluster/nodeid/" + hub.id() + "/";
  const auto hello_of = [](const std::string& id) {
    return event_bytes("Cluster::hello", {data{"worker"}, data{id}});
  };
  node worker{{}, connected_to(hub)};
  REQUIRE(run({&hub, &worker}, [&] {
    return hub.got.nodes.contains(worker.id()) && worker.got.nodes.contains(hub.id());
  }));
  CHECK(worker.publish(topic, hello_of(to_string(endpoint_id::random()))));
  CHECK(worker.publish(topic, hello_of("no id at all")));
  CHECK(worker.publish(topic, hello_of(worker.id())));
  CHECK(run({&hub, &worker}, [&] { return !hub.got.events.empty(); }));
  CHECK(hub.got.events.size() == 1);
  CHECK(hub.it->events().late_hellos == 2);
}

TEST_CASE("a node that asks before it is seen is answered once it is") {
  node hub;
  const auto topic = "zeek/cluster/nodeid/" + hub.id() + "/";
  const auto question_of = [](const std::string& id) {
    return event_bytes("Cluster::Backend::Pubsub::hello", {data{"worker"}, data{id}});
  };
  kept got;
  member worker{{}, got};
  REQUIRE(worker.start(connected_to(hub)).has_value());
  REQUIRE(worker.node().wait_for_subscribers(topic, 1, patience));
  const auto question = question_of(to_string(worker.id()));
  const auto nonsense = question_of("no id at all");
  CHECK(worker.publish(topic, as_event(question)));
  CHECK(worker.publish(topic, as_event(nonsense)));
  CHECK(run({&hub}, [&] { return hub.it->events().late_hellos == 1; }));
  CHECK(hub.got.events.empty());
  worker.subscribe("zeek/cluster/nodeid/" + to_string(worker.id()) + "/");
  CHECK(run({&hub}, [&] { return hub.got.events.size() == 1; }));
  CHECK(hub.got.nodes.size() == 1);
  CHECK(hub.got.events.front().bytes == question);
}

TEST_CASE("events in another format travel as they are, and what is no event is counted") {
  node hub;
  hub.it->subscribe("zeek/");
  node worker{{}, connected_to(hub)};
  REQUIRE(run({&hub, &worker}, [&] { return worker.it->node().subscribers("zeek/x") == 1; }));
  const std::string json = "{\"not\": \"bin::v1\"}";
  CHECK(worker.it->publish("zeek/x", {"broker-json-v1", std::as_bytes(std::span{json})}));
  CHECK(worker.publish("zeek/x", encode(data{"a string"})));
  CHECK(worker.publish("zeek/x", event_bytes("last")));
  CHECK(run({&hub, &worker}, [&] { return hub.got.events.size() == 2; }));
  CHECK(hub.got.events.front().format == "broker-json-v1");
  CHECK(hub.got.events.front().bytes.size() == json.size());
  CHECK(hub.it->events().no_event == 1);
}

TEST_CASE("publishing says so when the queue of a link has no room") {
  member_options narrow;
  narrow.link.capacity_messages = 10;
  node hub{[] {
    member_options options;
    options.inbound.capacity_messages = 10;
    return options;
  }()};
  hub.it->subscribe("zeek/x");
  node worker{narrow, connected_to(hub)};
  REQUIRE(run({&hub, &worker}, [&] { return worker.it->node().subscribers("zeek/x") == 1; }));
  const auto event = encode(zeek::make_event("large", {data{std::string(10'000, 'x')}}));
  const auto until = std::chrono::steady_clock::now() + patience;
  std::uint64_t published = 0;
  while (worker.publish("zeek/x", event) && std::chrono::steady_clock::now() < until)
    ++published;
  CHECK(worker.it->events().dropped == 1);
  CHECK(worker.it->events().published == published);
  CHECK(run({&hub, &worker}, [&] { return hub.got.events.size() == published; }));
}

TEST_CASE(
    "with the policy block two that publish to each other lose nothing, and do not wait for ever") {
  member_options blocking;
  blocking.link = {.policy = overflow_policy::block, .capacity_messages = 10};
  blocking.inbound.capacity_messages = 10;
  node hub{blocking};
  node worker{blocking, connected_to(hub)};
  hub.it->subscribe("to/hub");
  worker.it->subscribe("to/worker");
  REQUIRE(run({&hub, &worker}, [&] {
    return worker.it->node().subscribers("to/hub") == 1 &&
           hub.it->node().subscribers("to/worker") == 1;
  }));
  constexpr std::size_t events = 2'000;
  const auto event = encode(zeek::make_event("large", {data{std::string(2'000, 'x')}}));
  const auto publish_all = [&](node& from, std::string_view topic) {
    for (std::size_t i = 0; i < events; ++i)
      CHECK(from.publish(topic, event));
    CHECK(run({&from}, [&] { return from.got.events.size() == events; }));
  };
  std::thread other{[&] { publish_all(worker, "to/hub"); }};
  publish_all(hub, "to/worker");
  other.join();
  CHECK(run({&hub, &worker},
            [&] { return hub.got.events.size() == events && worker.got.events.size() == events; }));
}

TEST_CASE("whoever subscribes is told when the others know it, and when nobody is reached") {
  node hub;
  member_options client;
  client.relay = false;
  node first{client, connected_to(hub)};
  std::optional<std::string> subscribed;
  std::optional<std::string> ready;
  first.it->subscribe("zeek/x", [&](const std::string& failure) { subscribed = failure; });
  first.it->when_ready_to_publish([&](const std::string& failure) { ready = failure; });
  CHECK(run({&hub, &first}, [&] { return subscribed && ready; }));
  CHECK(subscribed == "");
  CHECK(ready == "");
  CHECK(hub.publish("zeek/x", event_bytes("at once")));
  CHECK(hub.it->events().unwanted == 0);
  CHECK(run({&hub, &first}, [&] { return first.got.events.size() == 1; }));

  endpoint gone;
  const auto nowhere = listen(gone);
  gone.close();
  client.ready_timeout = 200ms;
  node second{client, {.listen = {}, .connect = {nowhere}}};
  subscribed.reset();
  second.it->subscribe("zeek/x", [&](const std::string& failure) { subscribed = failure; });
  CHECK(run({&second}, [&] { return subscribed.has_value(); }));
  CHECK(subscribed->starts_with("no peer is reached: "));
}

TEST_CASE("clients of a Zeek process get what it publishes itself, and the other way round") {
  node server;
  server.it->subscribe("zeek/x");
  member_options options;
  options.relay = false;
  node client{options, connected_to(server)};
  client.it->subscribe("zeek/x");
  REQUIRE(run({&server, &client}, [&] { return server.it->node().subscribers("zeek/x") == 2; }));
  CHECK(server.publish("zeek/x", event_bytes("to client")));
  CHECK(client.publish("zeek/x", event_bytes("to server")));
  CHECK(run({&server, &client},
            [&] { return server.got.events.size() == 1 && client.got.events.size() == 1; }));
}

TEST_CASE("batches wait for a logger, and go to one logger each") {
  node hub;
  node worker{{}, connected_to(hub)};
  CHECK(worker.write_log("0"));
  CHECK(worker.write_log("1"));
  CHECK(worker.it->logs().waiting == 2);
  const member_place logger_place{.listen = {}, .connect = {hub.address()}, .writes_logs = true};
  node first{{}, logger_place};
  node second{{}, logger_place};
  std::vector<std::string> all;
  const auto collect = [&] {
    all = first.got.batches;
    all.insert(all.end(), second.got.batches.begin(), second.got.batches.end());
    std::ranges::sort(all);
  };
  REQUIRE(run({&hub, &worker, &first, &second}, [&] {
    collect();
    return all == std::vector<std::string>{"0", "1"} && worker.got.nodes.size() == 3;
  }));
  for (int i = 2; i < 10; ++i)
    CHECK(worker.write_log(std::to_string(i)));
  CHECK(run({&hub, &worker, &first, &second}, [&] {
    collect();
    return all.size() == 10;
  }));
  CHECK(std::ranges::adjacent_find(all) == all.end());
  CHECK(first.got.batches.size() >= 4);
  CHECK(second.got.batches.size() >= 4);
  CHECK(worker.it->logs().taken == 10);
}

TEST_CASE(
    "where one logger has no room the next gets the batch, and what nobody takes is counted") {
  node hub;
  const member_place logger_place{
      .listen = {"tcp://127.0.0.1:0"}, .connect = {}, .writes_logs = true};
  node stuck{{}, logger_place};
  node quick{{}, logger_place};
  member_options narrow;
  narrow.link.capacity_messages = 4;
  narrow.log_backlog_bytes = 100'000;
  node worker{narrow, {.listen = {}, .connect = {stuck.address(), quick.address()}}};
  REQUIRE(run({&stuck, &quick, &worker}, [&] { return worker.got.nodes.size() == 2; }));
  const std::string batch(50'000, 'x');
  const auto until = std::chrono::steady_clock::now() + patience;
  // The one reads nothing any more: its link fills, and everything goes to the other.
  std::size_t written = 0;
  while (quick.got.batches.size() < 500 && std::chrono::steady_clock::now() < until) {
    CHECK(worker.write_log(batch));
    ++written;
    CHECK(run({&quick, &worker}, [&] { return worker.it->logs().waiting == 0; }));
  }
  CHECK(quick.got.batches.size() >= 500);
  while (worker.write_log(batch) && std::chrono::steady_clock::now() < until)
    ++written;
  CHECK(worker.it->logs().dropped == 1);
  CHECK(run({&stuck, &quick, &worker},
            [&] { return stuck.got.batches.size() + quick.got.batches.size() == written; }));
}

TEST_CASE("a logger that dies without having written a batch loses none of a pipeline") {
  member_options options;
  options.logs = log_transport::pipeline;
  node hub{options};
  node worker{options, connected_to(hub)};
  const member_place logger_place{.listen = {}, .connect = {hub.address()}, .writes_logs = true};
  auto dies = std::make_unique<node>(options, logger_place);
  constexpr std::size_t batches = 300;
  std::size_t written = 0;
  // The logger has got batches, and dies in the middle of them.
  REQUIRE(run({&hub, &worker, dies.get()}, [&] {
    if (written < batches)
      CHECK(worker.write_log(std::to_string(written++)));
    return !dies->got.batches.empty();
  }));
  while (written < batches)
    CHECK(worker.write_log(std::to_string(written++)));
  std::set<std::string> seen{dies->got.batches.begin(), dies->got.batches.end()};
  dies.reset();
  node stays{options, logger_place};
  CHECK(run({&hub, &worker, &stays}, [&] {
    seen.insert(stays.got.batches.begin(), stays.got.batches.end());
    return seen.size() == batches;
  }));
}

TEST_CASE("without loggers each record is an event of its log, behind the names of its columns") {
  member_options options;
  options.logs = log_transport::records;
  node worker{options};
  endpoint reader{forwarding_on()};
  REQUIRE(reader.peer(worker.address()).has_value());
  auto sub = reader.make_subscriber({"zeek/logs/"});
  REQUIRE(sub.wait_ready(patience));
  REQUIRE(worker.it->node().wait_for_subscribers("zeek/logs/conn", 1, patience));
  const vector columns{data{vector{data{"uid"}, data{"string"}}},
                       data{vector{data{"id.resp_p"}, data{"port"}}}};
  const vector first{data{"C1"}, data{port{443, transport::tcp}}};
  const vector second{data{"C2"}, data{}};
  const auto batch = record_batch("conn", columns, {data{first}, data{second}});
  CHECK(worker.it->publish_logs({record_format, batch}));
  const zeek::log_schema schema{"conn", {{"uid", "string"}, {"id.resp_p", "port"}}};
  for (const auto& expected :
       {zeek::make_log_fields_event(schema), zeek::make_log_event("conn", first),
        zeek::make_log_event("conn", second)}) {
    const auto message = sub.get_for(patience);
    REQUIRE(message.has_value());
    CHECK(get_topic(*message) == "zeek/logs/conn");
    CHECK(get_data(*message) == expected);
  }
  CHECK(worker.it->logs().taken == 2);
}

TEST_CASE("what is no batch of records is not published, and counted") {
  member_options options;
  options.logs = log_transport::records;
  node worker{options};
  CHECK_FALSE(worker.write_log("another format"));
  for (const auto& bad : {encode(data{count{1}}), record_batch("conn", {data{"no column"}}, {}),
                          std::vector<std::byte>{std::byte{0xff}}, std::vector<std::byte>{}})
    CHECK_FALSE(worker.it->publish_logs({record_format, bad}));
  CHECK(worker.it->logs().dropped == 5);
}

TEST_CASE("publishers are kept for the topics that were used last") {
  endpoint at;
  topic_publishers all{at};
  for (std::size_t i = 0; i < topic_publishers::max_kept + 10; ++i) {
    CHECK(all.of("topic " + std::to_string(i)).topic() == "topic " + std::to_string(i));
    CHECK(&all.of("topic 0") == &all.of("topic 0"));
  }
  CHECK(all.size() == topic_publishers::max_kept);
}

TEST_CASE("a Zeek process that stops sends what waits") {
  node hub;
  hub.it->subscribe("zeek/x");
  node worker{{}, connected_to(hub)};
  REQUIRE(run({&hub, &worker}, [&] { return worker.it->node().subscribers("zeek/x") == 1; }));
  constexpr std::size_t events = 5'000;
  for (std::size_t i = 0; i < events; ++i)
    REQUIRE(worker.publish("zeek/x", event_bytes("one of many")));
  worker.it->stop(patience);
  CHECK(run({&hub}, [&] { return hub.got.events.size() == events; }));
}
