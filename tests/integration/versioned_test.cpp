// Clients and replicas of versioned delivery over real endpoints.
#include "support/nodes.hpp"
#include "support/published.hpp"
#include "support/version_history.hpp"

#include <pubsub/data_writer.hpp>
#include <pubsub/pattern/versioned.hpp>

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

replica_options quick(std::string id) {
  replica_options result;
  result.id = std::move(id);
  result.liveness_timeout = 1'000ms;
  return result;
}

/// Of a group of one replica.
replica_options alone() {
  replica_options result;
  result.group_size = 1;
  return result;
}

/// A replica at a node of its own, and a thread that takes what it hands out.
class server {
public:
  server(endpoint& hub, const replica_options& options, std::string group = "g") {
    join(node_, hub);
    it_.emplace(*replica::open(node_, group, options));
    reader_ = std::thread{[this] { run(); }};
  }
  ~server() { stop(); }
  void stop() {
    it_->close();
    if (reader_.joinable())
      reader_.join();
  }
  /// As if its process had ended.
  void kill() {
    node_.close(0ms);
    stop();
  }
  replica& operator*() { return *it_; }
  replica* operator->() { return &*it_; }
  std::uint64_t last() const { return last_; }
  std::vector<versioned_message> messages() const {
    std::lock_guard lock{mutex_};
    return messages_;
  }

private:
  void run() {
    while (auto some = it_->get_batch(1'000)) {
      std::lock_guard lock{mutex_};
      for (auto& each : *some)
        messages_.push_back(std::move(each));
      last_ = messages_.back().version.number;
    }
  }

  endpoint node_;
  std::optional<replica> it_;
  mutable std::mutex mutex_; // guards messages_
  std::vector<versioned_message> messages_;
  std::atomic<std::uint64_t> last_{0};
  std::thread reader_;
};

/// A hub, and servers around it.
struct cluster {
  explicit cluster(std::size_t n = 3) {
    for (std::size_t i = 0; i < n; ++i)
      add(quick(std::string(1, static_cast<char>('a' + i))));
    for (auto& each : servers)
      REQUIRE((*each)->wait_ready(patience));
  }
  server& add(const replica_options& options) {
    return *servers.emplace_back(std::make_unique<server>(hub, options));
  }
  server& sequencer() {
    server* found = nullptr;
    REQUIRE(eventually([&] {
      for (auto& each : servers)
        if ((*each)->is_sequencer())
          found = each.get();
      return found != nullptr;
    }));
    return *found;
  }
  /// Until all that live have handed out as much; then they must agree.
  void check(const std::map<std::uint64_t, message_version>& acknowledged, const endpoint_id& by) {
    std::uint64_t most = 0;
    for (const auto& [number, at] : acknowledged)
      most = std::max(most, at.number);
    for (auto& each : servers)
      if (!(*each)->closed())
        REQUIRE(eventually([&] { return each->last() >= most; }));
    version_history all;
    for (auto& each : servers) {
      auto part = all.replica((*each)->id());
      for (const auto& one : each->messages())
        part.add(one);
    }
    all.check_contiguous();
    for (const auto& [number, at] : acknowledged)
      all.acknowledged(by, number, at);
    for (const auto& each : all.violations())
      FAIL_CHECK(each);
  }

  endpoint hub;
  std::vector<std::unique_ptr<server>> servers;
};

versioned_group_options with(versioning scheme) {
  versioned_group_options result;
  result.scheme = scheme;
  result.replicas = 3;
  result.timeout = patience;
  return result;
}

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
