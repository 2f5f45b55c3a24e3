// Clients and replicas of versioned delivery over real endpoints.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/published.hpp"
#include "support/replicas.hpp"

#include <pubsub/data_writer.hpp>

#include "pattern/versioned/protocol/versioned_messages.hpp"

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

constexpr versioning versioned_schemes[] = {
    versioning::version_request, versioning::message_returns_version, versioning::one_hop,
    versioning::one_hop_ack_client, versioning::tagged};

std::map<std::uint64_t, message_version> collect(versioned_group& from,
                                                 std::size_t expected_count) {
  std::map<std::uint64_t, message_version> result;
  while (result.size() < expected_count) {
    const auto some = from.take_completions_for(patience);
    if (!some)
      break;
    for (const auto& each : *some) {
      CHECK_MESSAGE(!each.error, each.error.message());
      result[each.client_number] = each.version;
    }
  }
  return result;
}

} // namespace

TEST_CASE("every scheme gives the same messages to all replicas under the same versions") {
  cluster all;
  endpoint node;
  join(node, all.hub);
  std::uint64_t next = 1;
  for (const auto scheme : versioned_schemes) {
    CAPTURE(to_string(scheme));
    auto client = *versioned_group::open(node, "g", with(scheme));
    REQUIRE(client.wait_for_replicas(3, patience));
    std::map<std::uint64_t, message_version> acknowledged;
    for (std::uint64_t i = 1; i <= 20; ++i) {
      const auto sent = client.send(count{i});
      REQUIRE_MESSAGE(sent.has_value(), sent.error().message());
      CHECK(sent->number == next++);
      acknowledged[i] = *sent;
    }
    all.check(acknowledged, client.id());
    CHECK(client.counters().acknowledged == 20);
  }
}

TEST_CASE("without versions all replicas get a message, and it has number 0") {
  cluster all;
  auto client = *versioned_group::open(all.hub, "g", with(versioning::none));
  for (std::uint64_t i = 0; i < 10; ++i) {
    const auto sent = client.send(count{i});
    REQUIRE(sent.has_value());
    CHECK(sent->number == 0);
  }
  for (auto& each : all.servers)
    CHECK(eventually([&] { return each->messages().size() == 10; }));
}

TEST_CASE("what is posted goes in batches, and each message is acknowledged once") {
  cluster all;
  for (const auto scheme : versioned_schemes) {
    CAPTURE(to_string(scheme));
    auto options = with(scheme);
    options.reports = completion_reports::all;
    auto client = *versioned_group::open(all.hub, "g", options);
    constexpr std::uint64_t messages = 20'000;
    std::map<std::uint64_t, message_version> acknowledged;
    std::thread reader{[&] { acknowledged = collect(client, messages); }};
    for (std::uint64_t i = 1; i <= messages; ++i)
      REQUIRE(client.post(count{i}).has_value());
    CHECK(client.drain(patience) == 0);
    reader.join();
    CHECK(acknowledged.size() == messages);
    CHECK(client.counters().batches < messages / 2);
    all.check(acknowledged, client.id());
  }
}

TEST_CASE("clients of all schemes at once, each at a node of its own, agree with the replicas") {
  cluster all;
  version_history checked;
  std::vector<std::thread> clients;
  std::mutex mutex;
  std::uint64_t sent = 0;
  for (const auto scheme : versioned_schemes)
    clients.emplace_back([&, scheme] {
      endpoint node;
      join(node, all.hub);
      auto client = *versioned_group::open(node, "g", with(scheme));
      for (std::uint64_t i = 1; i <= 200; ++i) {
        if (i % 2 == 0)
          CHECK(client.post(count{i}).has_value());
        else
          CHECK(client.send(count{i}).has_value());
      }
      CHECK(client.drain(patience) == 0);
      std::lock_guard lock{mutex};
      sent += client.counters().acknowledged;
    });
  for (auto& each : clients)
    each.join();
  CHECK(sent == 1'000);
  for (auto& each : all.servers)
    REQUIRE(eventually([&] { return each->last() >= 1'000; }));
  all.check({}, {});
  CHECK(all.servers.front()->messages().size() == 1'000);
}

TEST_CASE("histories of four clients at once are the same at all replicas, for every scheme") {
  const auto* text = std::getenv("PUBSUB_VERSIONED_MESSAGES"); // the long form: 1000000
  const std::uint64_t each_sends = (text != nullptr ? std::strtoull(text, nullptr, 10) : 8'000) / 4;
  for (const auto scheme : versioned_schemes) {
    CAPTURE(to_string(scheme));
    cluster all;
    std::vector<std::thread> clients;
    for (int i = 0; i < 4; ++i)
      clients.emplace_back([&] {
        endpoint node;
        join(node, all.hub);
        auto client = *versioned_group::open(node, "g", with(scheme));
        for (std::uint64_t n = 1; n <= each_sends; ++n)
          if (!client.post(count{n}))
            return;
        CHECK(client.drain(10 * patience) == 0);
        CHECK(client.counters().acknowledged == each_sends);
      });
    for (auto& each : clients)
      each.join();
    for (auto& each : all.servers)
      REQUIRE(eventually([&] { return each->last() == 4 * each_sends; }));
    all.check({}, {});
  }
}

TEST_CASE("a replica that comes late gets everything from the beginning, and is a member then") {
  cluster all;
  auto client = *versioned_group::open(all.hub, "g", with(versioning::one_hop_ack_client));
  for (std::uint64_t i = 1; i <= 3'000; ++i)
    REQUIRE(client.post(count{i}).has_value());
  CHECK(client.drain(patience) == 0);
  auto& late = all.add(quick("late"));
  REQUIRE(late->wait_ready(patience));
  CHECK(late->held().number == 3'000);
  CHECK(client.wait_for_replicas(4, patience));
  const auto sent = client.send(count{0});
  REQUIRE(sent.has_value());
  all.check({{3'001, *sent}}, client.id());
  CHECK(late.messages().front().version.number == 1);
  CHECK(late->counters().fetched >= 3'000);
}

TEST_CASE(
    "another replica takes over where the sequencer is lost, and nothing acknowledged is lost") {
  for (const auto scheme : versioned_schemes) {
    CAPTURE(to_string(scheme));
    cluster all;
    auto options = with(scheme);
    options.reports = completion_reports::all;
    options.replicas = 2;
    auto client = *versioned_group::open(all.hub, "g", options);
    constexpr std::uint64_t messages = 4'000;
    std::map<std::uint64_t, message_version> acknowledged;
    std::thread reader{[&] { acknowledged = collect(client, messages); }};
    std::uint64_t first_epoch = 0;
    for (std::uint64_t i = 1; i <= messages; ++i) {
      REQUIRE(client.post(count{i}).has_value());
      if (i == messages / 2)
        all.sequencer().kill();
    }
    CHECK(client.drain(patience) == 0);
    reader.join();
    CHECK(acknowledged.size() == messages);
    first_epoch = acknowledged.begin()->second.epoch;
    CHECK(acknowledged.rbegin()->second.epoch > first_epoch);
    all.check(acknowledged, client.id());
    auto& back = all.add(quick("d")); // in its place
    REQUIRE(back->wait_ready(patience));
    all.check(acknowledged, client.id());
  }
}

TEST_CASE("a client that dies with a version it has not used does not stop the others") {
  cluster all;
  auto client = *versioned_group::open(all.hub, "g", with(versioning::one_hop));
  REQUIRE(client.send(count{1}).has_value());
  { // takes versions, and is gone before it sends: nobody hears its replies
    auto raw = all.hub.make_subscriber(filter{"versioned/status/g/"});
    pattern::status_message of_leader;
    while (!of_leader.leads) {
      const auto msg = raw.get_for(patience);
      REQUIRE(msg.has_value());
      if (const auto x = pattern::parse_message(get_view(*msg));
          x && std::holds_alternative<pattern::status_message>(*x))
        of_leader = std::get<pattern::status_message>(*x);
    }
    data_writer out;
    pattern::submit_message request;
    request.group = of_leader.at.group;
    request.client = endpoint_id::random();
    request.leader = of_leader.replica;
    request.scheme = static_cast<std::uint64_t>(versioning::version_request);
    request.settled = request.first = 1;
    request.count = 3;
    pattern::write(out, request);
    auto to = all.hub.make_publisher(pattern::topic_of_replica(of_leader.replica));
    REQUIRE(to.publish(out.bytes()) == publish_result::taken);
  }
  const auto sent = client.send(count{2});
  REQUIRE_MESSAGE(sent.has_value(), sent.error().message());
  CHECK(sent->number == 5);
  all.check({{2, *sent}}, client.id());
  const auto handed_out = all.servers.front()->messages();
  for (std::size_t i = 1; i <= 3; ++i)
    CHECK(handed_out[i].is_void());
  CHECK((*all.servers.front())->counters().voids == 3);
}

TEST_CASE("a replica whose past is forgotten takes over the state of another") {
  endpoint hub;
  auto options = quick("a");
  options.group_size = 1;
  options.history_messages = 10;
  std::uint64_t sum = 0;
  options.snapshot = [&] { return data{count{sum}}; };
  auto first = *replica::open(hub, "g", options);
  auto client = *versioned_group::open(hub, "g", {.reports = completion_reports::none});
  for (std::uint64_t i = 1; i <= 100; ++i)
    REQUIRE(client.send(count{i}).has_value());
  for (int i = 0; i < 100; ++i)
    sum += first.get_for(patience)->value.as_count();
  std::atomic<bool> stop = false;
  std::thread reader{[&] {
    while (!stop)
      if (const auto one = first.get_for(20ms))
        sum += one->value.as_count();
  }};
  auto late_options = quick("b");
  late_options.group_size = 1;
  std::uint64_t late_sum = 0;
  message_version restored;
  late_options.restore = [&](const data_view& state, const message_version& at) {
    late_sum = state.as_count();
    restored = at;
  };
  auto late = *replica::open(hub, "g", late_options);
  REQUIRE(eventually([&] { // it takes the state over while it is asked for messages
    CHECK(late.get_for(10ms).timed_out());
    return late.state() == replica_state::member;
  }));
  CHECK(restored.number == 100);
  CHECK(late_sum == 5'050);
  const auto sent = client.send(count{7});
  REQUIRE(sent.has_value());
  const auto next = late.get_for(patience);
  REQUIRE(next.has_value());
  CHECK(next->version == *sent);
  stop = true;
  reader.join();
}

TEST_CASE("a state is taken over where messages that came together were handed out one by one") {
  endpoint hub;
  std::uint64_t sum = 0;
  auto options = quick("a");
  options.group_size = 1;
  options.history_messages = 50;
  options.snapshot = [&] { return data{count{sum}}; };
  auto first = *replica::open(hub, "g", options);
  auto client = *versioned_group::open(hub, "g");
  REQUIRE(client.wait_for_replicas(1, patience));
  data_writer ones;
  for (int i = 0; i < 25; ++i)
    ones.write_count(1);
  for (int i = 0; i < 4; ++i) { // two go alone, 23 together
    REQUIRE(client.post_batch(ones.bytes()).has_value());
    REQUIRE(client.drain(patience) == 0);
  }
  for (int i = 0; i < 60; ++i) // in the middle of 53 to 75
    sum += first.get_for(patience)->value.as_count();
  std::uint64_t late_sum = 0;
  auto late_options = quick("b");
  late_options.group_size = 1;
  late_options.restore = [&](const data_view& state, const message_version& at) {
    late_sum = state.as_count();
    CHECK(at.number == late_sum);
  };
  auto late = *replica::open(hub, "g", late_options);
  int looks = 0;
  REQUIRE(eventually([&] {
    while (auto one = late.try_get())
      late_sum += one->value.as_count();
    // Its request has come by the time when the first one goes on, message by message.
    if (late.state() == replica_state::catching_up && ++looks > 30)
      if (auto one = first.try_get())
        sum += one->value.as_count();
    return late.state() == replica_state::member && late_sum == 100;
  }));
}

TEST_CASE("a replica whose past is forgotten and that gets no snapshot closes, and says why") {
  endpoint hub;
  auto options = quick("a");
  options.group_size = 1;
  options.history_messages = 10;
  auto first = *replica::open(hub, "g", options);
  auto client = *versioned_group::open(hub, "g");
  for (std::uint64_t i = 1; i <= 100; ++i)
    REQUIRE(client.send(count{i}).has_value());
  CHECK(first.get_batch_for(1'000, patience)->size() == 100);
  options.id = "b";
  auto late = *replica::open(hub, "g", options);
  REQUIRE(eventually([&] { return late.closed(); }));
  CHECK(late.failure() == errc::not_supported);
  CHECK(client.send(count{1}).has_value());
}

TEST_CASE("of two replicas of an id the member stays, and the other says why it closes") {
  cluster all;
  auto& twin = all.add(quick("a"));
  REQUIRE(eventually([&] { return twin->closed(); }));
  CHECK(twin->failure() == errc::invalid_argument);
  CHECK(twin->failure().context().starts_with("another replica of this group is called 'a': "));
  CHECK_FALSE((*all.servers.front())->closed());
}

TEST_CASE(
    "of two replicas of an id that are groups of their own already one closes, and says why") {
  endpoint hub;
  auto options = quick("a");
  options.group_size = 1;
  auto one = *replica::open(hub, "g", options);
  auto other = *replica::open(hub, "g", options);
  REQUIRE(eventually([&] { return one.closed() || other.closed(); }));
  const auto& loser = one.closed() ? one : other;
  CHECK(loser.failure() == errc::invalid_argument);
  CHECK(loser.failure().context().starts_with("another replica of this group is called 'a': "));
}
