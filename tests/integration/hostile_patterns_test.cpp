// What a node that takes part in the network, and lies, can do to pipelines, services and groups of
// replicas.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/published.hpp"
#include "support/replicas.hpp"

#include <pubsub/pattern/pipeline.hpp>
#include <pubsub/pattern/remote.hpp>

#include "pattern/pipeline/task_messages.hpp"
#include "pattern/remote/remote_messages.hpp"
#include "pattern/versioned/protocol/versioned_messages.hpp"

#include <limits>
#include <optional>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

constexpr auto largest_count = std::numeric_limits<std::uint64_t>::max();

/// A node that hears all messages of some topics, and sends what it likes.
class liar {
public:
  liar(endpoint& hub, const std::string& topics) {
    join(node_, hub);
    heard_.emplace(node_.make_subscriber({topics}));
    REQUIRE(heard_->wait_ready(patience));
  }
  /// The next message of this kind that it hears.
  template <class Message>
  Message hear() {
    for (;;) {
      auto msg = heard_->get_for(patience);
      REQUIRE(msg.has_value());
      kept_.push_back(*msg);
      if (auto found = pattern::parse<Message>(get_view(kept_.back())))
        return *found;
    }
  }
  template <class Message>
  void say(const std::string& topic, const Message& what) {
    pattern::message_buffer buffer;
    for (int i = 0; i < 3; ++i)
      sent(node_.publish(topic, buffer.encode(what)));
  }
  /// The hub has heard what it said.
  void finish() {
    heard_.reset();
    CHECK(node_.drain(patience) == 0);
  }

private:
  endpoint node_;
  std::optional<subscriber> heard_;
  std::vector<data_message> kept_; // what was heard points into them
};

} // namespace

TEST_CASE("nobody but its queue acknowledges or rejects a task") {
  endpoint hub;
  endpoint at_source;
  endpoint at_worker;
  join(at_source, hub);
  join(at_worker, hub);
  liar attacker{hub, "pipeline/"};
  auto source = *exchange::open(at_source, "tasks");
  auto worker = *task_queue::open(at_worker, "workers");
  worker.bind("tasks");
  REQUIRE(source.wait_for_queues(1, patience));
  for (std::uint64_t i = 0; i < 10; ++i)
    REQUIRE(source.send(count{i}));
  source.send_pending();
  const auto tasks = attacker.hear<pattern::tasks_view>();
  const auto report = attacker.hear<pattern::queue_report>();

  auto forged = report;
  forged.received = forged.taken = forged.done = 1'000;
  attacker.say(pattern::topic_of_exchange(tasks.at.exchange), forged);
  forged.done = 0;
  forged.rejected = {{0, 10}};
  attacker.say(pattern::topic_of_exchange(tasks.at.exchange), forged);
  attacker.say(pattern::topic_of_exchange(tasks.at.exchange),
               pattern::completion{0, {{0, 1'000}}}); // the secret is not known to it
  attacker.say(pattern::topic_of_queue(report.queue),
               pattern::progress_report{tasks.source.id, largest_count});
  attacker.finish();
  CHECK(source.drain(200ms) == 10);
  CHECK(source.counters().done == 0);
  CHECK(source.counters().dead == 0);
  for (std::uint64_t i = 0; i < 10; ++i) {
    auto task = worker.get_for(patience);
    REQUIRE(task);
    CHECK(get<count>(task->value().to_data()) == i);
    task->done();
  }
  CHECK(source.drain(patience) == 0);
  CHECK(source.counters().done == 10);
}

TEST_CASE("nobody but its instance answers a call, and nobody but its client cancels it") {
  endpoint hub;
  endpoint at_service;
  endpoint at_client;
  join(at_service, hub);
  join(at_client, hub);
  liar attacker{hub, "remote/"};
  gate asked;
  gate go_on;
  auto server = *service::open(at_service, "s");
  REQUIRE(server.add("double", [&](const data_view& x) -> expected<data> {
    asked.open();
    go_on.wait(patience);
    return data{2 * x.as_count()};
  }));
  REQUIRE(server.start());
  auto client = *remote::open(at_client, "s");
  REQUIRE(client.wait_for_instances(1, patience));
  auto first = client.submit("double", count{21});
  auto second = client.submit("double", count{4}); // waits, so it could be cancelled
  client.send_pending();
  REQUIRE(asked.wait());
  const auto request = attacker.hear<pattern::request_view>();
  pattern::service_status status;
  while (status.instance.is_nil())
    status = attacker.hear<pattern::service_status>();
  data_writer results;
  results.write_count(666);
  attacker.say(pattern::topic_of_caller(request.client),
               pattern::service_reply<pattern::value_list>{.instance = status.instance,
                                                           .stream = request.stream,
                                                           .places = {{request.first, 1}},
                                                           .results = {1, results.bytes()}});
  status.leaving = true;
  attacker.say(pattern::topic_of_caller(request.client), status);
  for (std::uint64_t place = 0; place < 4; ++place)
    attacker.say(pattern::topic_of_instance(status.instance),
                 pattern::cancel_request{request.client, request.stream, request.first + place});
  attacker.finish();
  go_on.open();
  const auto one = first.get();
  REQUIRE_MESSAGE(one.has_value(), one.error().message());
  CHECK(get<count>(*one) == 42);
  const auto other = second.get();
  REQUIRE_MESSAGE(other.has_value(), other.error().message());
  CHECK(get<count>(*other) == 8);
  CHECK(server.counters().cancelled == 0);
}

TEST_CASE("who is no member of a group can neither use up its epochs, nor lead it, nor speak for "
          "others") {
  cluster all;
  endpoint node;
  join(node, all.hub);
  liar attacker{all.hub, "versioned/"};
  auto client = *versioned_group::open(node, "g", with(versioning::one_hop_ack_client));
  REQUIRE(client.wait_for_replicas(3, patience));
  REQUIRE(client.send(count{0}).has_value());
  pattern::status_message leading;
  while (!leading.leads)
    leading = attacker.hear<pattern::status_message>();
  const auto to_all = pattern::topic_of_replicas("g");
  const auto to_everyone = pattern::topic_of_status("g");
  const auto own = endpoint_id::random();

  for (const auto epoch : {leading.at.number + 1, leading.at.number + 1'000'000, largest_count}) {
    CAPTURE(epoch);
    auto lie = leading; // in the name of the leader, then of a replica of its own
    lie.at.promised = lie.at.number = epoch;
    attacker.say(to_everyone, lie);
    lie.replica = lie.at.leader = own;
    lie.name = "liar";
    attacker.say(to_everyone, lie);
    for (const auto& candidate : {leading.at.list.members[0], leading.at.list.members[1], own})
      attacker.say(to_all, pattern::prepare_message{leading.at.group, candidate, epoch, {}});
    pattern::start_message start;
    start.at = leading.at;
    start.at.number = start.at.promised = epoch;
    start.at.leader = start.at.promised_to = own;
    start.at.list = {epoch, 1, {own}};
    start.group_size = leading.group_size;
    attacker.say(to_all, start);
    start.at.leader = leading.at.leader;
    attacker.say(to_all, start);
  }
  for (const auto& member : leading.at.list.members)
    attacker.say(pattern::topic_of_replica(leading.replica),
                 pattern::held_message{leading.at.group, member, leading.at.number,
                                       leading.at.list.number, largest_count, false});
  attacker.say(to_all, pattern::commit_message{leading.at.group, leading.at.number, 1'000'000'000});
  data_writer value;
  value.write_count(666);
  attacker.say(to_all, pattern::record_message{leading.at.group,
                                               leading.at.number,
                                               2,
                                               0,
                                               own,
                                               {1, 1, {leading.at.number, 2}, 1},
                                               {1, value.bytes()}});
  attacker.finish();

  std::map<std::uint64_t, message_version> acknowledged;
  for (std::uint64_t i = 1; i <= 50; ++i) {
    const auto version = client.send(count{i});
    REQUIRE_MESSAGE(version.has_value(), version.error().message());
    CHECK(version->epoch == leading.at.number);
    acknowledged[i + 1] = *version;
  }
  all.check(acknowledged, client.id());
  for (auto& each : all.servers)
    CHECK_FALSE((**each).failure());
}
