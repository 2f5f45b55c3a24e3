// What handles of replicas and clients refuse, and how their waits end, over real endpoints.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/published.hpp"
#include "support/replicas.hpp"

#include <pubsub/data_writer.hpp>

#include "pattern/versioned/protocol/versioned_messages.hpp"

#include <optional>
#include <thread>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

/// Of a group of one replica.
replica_options alone() {
  replica_options result;
  result.group_size = 1;
  return result;
}

} // namespace

TEST_CASE("a send fails clearly where there are too few replicas") {
  endpoint hub;
  versioned_group_options options;
  options.timeout = 500ms;
  {
    auto nobody = *versioned_group::open(hub, "g", options);
    const auto sent = nobody.send(count{1});
    REQUIRE_FALSE(sent.has_value());
    CHECK(sent.error() == errc::peer_unavailable);
    CHECK(sent.error().context() == "no replica of 'g' is within reach; it was not sent");
  }
  auto one = *replica::open(hub, "g", quick("a"));
  auto client = *versioned_group::open(hub, "g", options);
  CHECK_FALSE(client.wait_for_replicas(1, 300ms));
  const auto sent = client.send(count{1});
  REQUIRE_FALSE(sent.has_value());
  CHECK(sent.error() == errc::peer_unavailable);
  CHECK(sent.error().context() ==
        "0 of 3 replicas of 'g' are members, 2 are needed; it was not sent");
  CHECK(client.in_flight() == 0);
}

TEST_CASE("a send that not all can acknowledge ends in time, and says what may have become of it") {
  cluster all;
  auto options = with(versioning::one_hop_ack_client);
  options.timeout = 1'500ms;
  options.replicas = 1;
  auto client = *versioned_group::open(all.hub, "g", options);
  REQUIRE(client.send(count{1}).has_value());
  auto& sequencer = all.sequencer();
  for (auto& each : all.servers)
    if (each.get() != &sequencer)
      each->kill();
  const auto sent = client.send(count{2}); // one of three is left: it can decide nothing
  REQUIRE_FALSE(sent.has_value());
  CHECK(sent.error() == errc::request_timeout);
  CHECK(sent.error().context() ==
        "1 of 3 replicas of 'g' is a member, 2 are needed; it may have been taken");
}

TEST_CASE("options that are out of range are an error of open that names them") {
  endpoint hub;
  const auto replica_error = [&](auto change) {
    replica_options options;
    change(options);
    const auto it = replica::open(hub, "g", options);
    REQUIRE_FALSE(it.has_value());
    CHECK(it.error() == errc::invalid_argument);
    return it.error().context();
  };
  CHECK(replica_error([](auto& x) { x.group_size = 0; }) == "group_size is 0; it is at least 1");
  CHECK(replica_error([](auto& x) {
          x.history_messages = 0;
        }).starts_with("history_messages is 0; "));
  CHECK(replica_error([](auto& x) { x.history_bytes = 0; }).starts_with("history_bytes is 0; "));
  CHECK(replica_error([](auto& x) { x.liveness_timeout = 49ms; }) ==
        "liveness_timeout: 49000000 ns is out of range, 50000000 ns to a year");
  CHECK(replica_error([](auto& x) {
          x.liveness_timeout = 24h * 366;
        }).starts_with("liveness_timeout: "));
  const auto group_error = [&](auto change) {
    versioned_group_options options;
    change(options);
    const auto it = versioned_group::open(hub, "g", options);
    REQUIRE_FALSE(it.has_value());
    CHECK(it.error() == errc::invalid_argument);
    return it.error().context();
  };
  CHECK(group_error([](auto& x) { x.scheme = static_cast<versioning>(17); }) ==
        "scheme: 17 is out of range, the enumerators of versioning");
  CHECK(group_error([](auto& x) {
          x.reports = static_cast<completion_reports>(3);
        }).starts_with("reports: 3 "));
  CHECK(group_error([](auto& x) { x.replicas = 0; }).starts_with("replicas is 0; "));
  CHECK(group_error([](auto& x) { x.window_messages = 0; }).starts_with("window_messages is 0; "));
  CHECK(group_error([](auto& x) { x.window_bytes = 0; }).starts_with("window_bytes is 0; "));
  CHECK(group_error([](auto& x) {
          x.max_message_bytes = 0;
        }).starts_with("max_message_bytes is 0; "));
  CHECK(group_error([](auto& x) { x.timeout = 0ns; }).starts_with("timeout: 0 ns "));
  CHECK(group_error([](auto& x) {
          x.timeout = std::chrono::nanoseconds::max();
        }).starts_with("timeout: "));
  CHECK(parse_versioning("two_hops").error() == errc::invalid_argument);
  for (const auto each : all_versionings)
    CHECK(*parse_versioning(to_string(each)) == each);
}

TEST_CASE("values that are too long are refused") {
  endpoint hub;
  auto client = *versioned_group::open(hub, "g", {.max_message_bytes = 100});
  CHECK(client.send(data{std::string(200, 'x')}).error() == errc::limit_exceeded);
  CHECK(client.post(data{std::string(200, 'x')}).error() == errc::limit_exceeded);
  CHECK(client.counters().sent == 0);
}

TEST_CASE("a wait for messages tells a timeout from the end, and values go encoded as well") {
  endpoint hub;
  auto server = *replica::open(hub, "g", alone());
  auto client = *versioned_group::open(hub, "g", {.reports = completion_reports::all});
  CHECK(server.try_get().timed_out());
  CHECK(server.get_batch_for(10, 1ms).timed_out());
  CHECK(client.take_completions().empty());
  CHECK(client.take_completions_for(1ms).timed_out());
  data_writer encoded;
  encoded.write_string("one");
  REQUIRE(client.send(encoded.bytes()).has_value());
  REQUIRE(client.post("two").has_value());
  client.send_pending();
  const auto completions = client.take_completions_for(patience);
  REQUIRE(completions.has_value());
  CHECK(completions->front().client_number == 2);
  CHECK(server.get_for(patience)->value.as_string() == "one");
  std::optional<versioned_message> second;
  REQUIRE(eventually([&] {
    if (auto found = server.try_get())
      second = std::move(*found);
    return second.has_value();
  }));
  CHECK(second->value.as_string() == "two");
  server.close();
  client.close();
  CHECK(server.try_get().closed());
  CHECK(server.get_batch(10).closed());
  CHECK(client.take_completions_for(patience).closed());
}

TEST_CASE("an endpoint is moved beneath a replica and a client, and they go on") {
  auto first = std::make_unique<endpoint>();
  auto server = *replica::open(*first, "g", alone());
  auto client = *versioned_group::open(*first, "g");
  REQUIRE(client.send(count{1}).has_value());
  endpoint second = std::move(*first);
  first.reset();
  REQUIRE(client.send(count{2}).has_value());
  CHECK(server.get_for(patience)->value.as_count() == 1);
  CHECK(server.get_for(patience)->value.as_count() == 2);
  second.close();
  CHECK(server.get().closed());
  CHECK(client.send(count{3}).error() == errc::shutting_down);
}

TEST_CASE("what is no message of the group is counted, and does no harm") {
  cluster all;
  auto to = all.hub.make_publisher(pattern::topic_of_replicas("g"));
  data_writer out;
  for (std::uint64_t kind = 0; kind < 25; ++kind) {
    out.clear();
    out.begin_vector(3);
    out.write_count(kind);
    out.write_count(~0ULL);
    out.write_string("x");
    sent(to.publish(out.bytes()));
  }
  auto client = *versioned_group::open(all.hub, "g", with(versioning::tagged));
  CHECK(client.send(count{1}).has_value());
  CHECK((*all.servers.front())->counters().refused >= 25);
}

TEST_CASE("closing ends waits of replicas and clients") {
  endpoint hub;
  auto one = *replica::open(hub, "g");
  auto client = *versioned_group::open(hub, "g");
  std::thread getter{[&] { CHECK(one.get().closed()); }};
  std::thread sender{[&] { CHECK(client.send(count{1}).error() == errc::shutting_down); }};
  REQUIRE(eventually([&] { return client.in_flight() == 1; }));
  one.close();
  client.close();
  getter.join();
  sender.join();
  CHECK(one.closed());
  CHECK(one.state() == replica_state::closed);
}

TEST_CASE("at a closed endpoint neither a replica nor a client opens") {
  endpoint closed;
  closed.close();
  CHECK(replica::open(closed, "g").error() == errc::shutting_down);
  CHECK(versioned_group::open(closed, "g").error() == errc::shutting_down);
}
