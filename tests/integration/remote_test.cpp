// Services and clients over real endpoints.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/published.hpp"

#include <pubsub/pattern/remote.hpp>

#include "pattern/remote/remote_messages.hpp"

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

constexpr remote_mode fixed_modes[] = {remote_mode::sync, remote_mode::bulk, remote_mode::async,
                                       remote_mode::pipeline, remote_mode::hybrid};

constexpr std::chrono::milliseconds client_silence{20'000};

/// An instance at a node of its own, beside the hub.
class server {
public:
  explicit server(endpoint& hub, const service_options& options = {},
                  repeatable repeat = repeatable::no) {
    join(node_, hub);
    it_.emplace(*service::open(node_, "s", options));
    REQUIRE(it_->add("echo", [](const data_view& x) -> expected<data> { return x.to_data(); }));
    REQUIRE(it_->add("text", [](const data_view& x) -> expected<data> {
      return data{std::string(x.as_count(), 'x')};
    }));
    REQUIRE(it_->add("refuse", [](const data_view&) -> expected<data> {
      return error{errc::type_clash, "not this"};
    }));
    REQUIRE(it_->add(
        "throw", [](const data_view&) -> expected<data> { throw std::out_of_range{"too far"}; }));
    REQUIRE(it_->add(
        "hold",
        [this](const data_view& x) -> expected<data> {
          ++held_;
          go_.wait();
          return x.to_data();
        },
        repeat));
    REQUIRE(it_->start());
  }
  ~server() { let_go(); }
  /// As if its process had ended.
  void kill() { node_.close(0ms); }
  void let_go() { go_.open(); }
  std::size_t held() const { return held_; }
  service& operator*() { return *it_; }
  service* operator->() { return &*it_; }
  endpoint& node() { return node_; }

private:
  endpoint node_;
  gate go_;
  std::atomic<std::size_t> held_{0};
  std::optional<service> it_;
};

struct site {
  explicit site(std::size_t servers = 1, const service_options& options = {},
                repeatable repeat = repeatable::no) {
    join(user, hub);
    for (std::size_t i = 0; i < servers; ++i)
      all.push_back(std::make_unique<server>(hub, options, repeat));
  }
  remote client(remote_options options = {}) {
    auto result = *remote::open(user, "s", options);
    REQUIRE(result.wait_for_instances(all.size(), patience));
    return result;
  }

  endpoint hub, user;
  std::vector<std::unique_ptr<server>> all;
};

remote_options of_mode(remote_mode mode) {
  remote_options result;
  result.mode = mode;
  return result;
}

std::vector<data> numbers(std::uint64_t n) {
  std::vector<data> result;
  for (std::uint64_t i = 0; i < n; ++i)
    result.emplace_back(count{i});
  return result;
}

bool adds_up(const remote& client) {
  const auto x = client.counters();
  return x.submitted == x.done + x.failed + client.unfinished();
}

} // namespace

TEST_CASE("in every mode each operation gets its result, and results are in order") {
  site s;
  for (const auto mode : all_remote_modes) {
    CAPTURE(to_string(mode));
    auto client = s.client(of_mode(mode));
    const auto n = mode == remote_mode::sync ? 100u : 5'000u;
    const auto arguments = numbers(n);
    for (const bool in_bulk : {false, true}) {
      const auto results =
          client.map("echo", arguments, in_bulk ? grouping::in_bulk : grouping::by_mode);
      REQUIRE(results.size() == n);
      for (std::uint64_t i = 0; i < n; ++i)
        REQUIRE((results[i].has_value() && *results[i] == data{count{i}}));
    }
    const auto one = client.call("echo", data{"text"});
    CHECK((one.has_value() && *one == data{"text"}));
    std::vector<remote_future> futures;
    for (const auto& each : arguments)
      futures.push_back(client.submit("echo", each));
    for (std::uint64_t i = 0; i < n; ++i) {
      const auto result = futures[i].get();
      REQUIRE((result.has_value() && *result == data{count{i}}));
    }
    CHECK(client.unfinished() == 0);
    CHECK(adds_up(client));
  }
}

TEST_CASE("bulk is one request to each instance, sync one for each operation") {
  site s{2};
  auto bulk = s.client(of_mode(remote_mode::bulk));
  REQUIRE(bulk.map("echo", numbers(1'000)).size() == 1'000);
  CHECK(bulk.counters().requests == 2);
  auto sync = s.client(of_mode(remote_mode::sync));
  REQUIRE(sync.map("echo", numbers(100)).size() == 100);
  CHECK(sync.counters().requests == 100);
}

TEST_CASE("several instances of a service share the load, each with several workers") {
  service_options options;
  options.workers = 2;
  site s{3, options};
  for (const auto mode : fixed_modes) {
    CAPTURE(to_string(mode));
    auto client = s.client(of_mode(mode));
    const auto results = client.map("echo", numbers(900));
    for (std::uint64_t i = 0; i < results.size(); ++i)
      REQUIRE((results[i].has_value() && *results[i] == data{count{i}}));
  }
  for (const auto& each : s.all)
    CHECK((*each)->counters().operations > 300);
}

TEST_CASE("where nobody serves a name, or an operation is unknown, a call fails at once") {
  site s;
  auto nobody = *remote::open(s.user, "what");
  const auto begin = std::chrono::steady_clock::now();
  CHECK(nobody.call("echo", data{1}).error() == errc::no_such_service);
  auto client = s.client();
  const auto unknown = client.call("what", data{1});
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.error() == errc::no_such_operation);
  CHECK(unknown.error().context().find("'echo'") != std::string::npos);
  CHECK(std::chrono::steady_clock::now() - begin < 10s);
}

TEST_CASE("the error of a handler comes back with its code and text, an exception with its type") {
  site s;
  for (const auto mode : fixed_modes) {
    auto client = s.client(of_mode(mode));
    const auto refused = client.call("refuse", data{1});
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error() == errc::type_clash);
    CHECK(refused.error().context() == "not this");
    const auto thrown = client.call("throw", data{1});
    REQUIRE_FALSE(thrown.has_value());
    CHECK(thrown.error() == errc::operation_failed);
    CHECK(thrown.error().context() == "std::out_of_range: too far");
  }
}

TEST_CASE("a call ends at its timeout, and the client goes on") {
  site s;
  auto client = s.client();
  const auto late = client.call_for("hold", data{1}, 50ms);
  REQUIRE_FALSE(late.has_value());
  CHECK(late.error() == errc::request_timeout);
  s.all[0]->let_go();
  CHECK(client.call("echo", data{1}).has_value());
}

TEST_CASE("a call that is cancelled is not done if it has not begun") {
  site s;
  auto client = s.client(of_mode(remote_mode::pipeline));
  auto first = client.submit("hold", data{1});
  REQUIRE(eventually([&] { return s.all[0]->held() == 1; }));
  auto second = client.submit("hold", data{2});
  CHECK(second.get_for(0ns).timed_out());
  CHECK(second.cancel());
  CHECK_FALSE(second.cancel());
  CHECK(second.get().error() == errc::cancelled);
  CHECK(client.call_for("echo", data{1}, 1ms).error() == errc::request_timeout);
  s.all[0]->let_go();
  CHECK(first.get().has_value());
  CHECK(client.call("echo", data{1}).has_value());
}

TEST_CASE("a future tells that it is ready, whatever made it so, and once") {
  site s;
  auto client = s.client(of_mode(remote_mode::pipeline));
  std::atomic<int> completions{0};
  const auto tell = [&] { ++completions; };
  auto held = client.submit("hold", data{1});
  REQUIRE(eventually([&] { return s.all[0]->held() == 1; }));
  auto given_up = client.submit("echo", data{2});
  for (const auto* each : {&held, &held, &given_up})
    each->when_ready(tell);
  CHECK_FALSE(held.wait_for(0ns));
  CHECK(completions == 0);
  CHECK(given_up.cancel());
  s.all[0]->let_go();
  CHECK(eventually([&] { return completions == 3; })); // although no thread waits for the results
  CHECK(held.wait_for(0ns));
  held.when_ready(tell);
  CHECK(completions == 4);
  auto never = client.submit_for("hold", data{3}, 1h);
  never.when_ready(tell);
  client.close();
  CHECK(completions == 5);
}

TEST_CASE("when an instance is killed every call ends, with a result or an error") {
  for (const auto mode : fixed_modes) {
    CAPTURE(to_string(mode));
    site s;
    auto options = of_mode(mode);
    options.liveness_timeout = client_silence;
    auto client = s.client(options);
    std::vector<remote_future> futures;
    for (int i = 0; i < 100; ++i)
      futures.push_back(client.submit("hold", data{i}));
    REQUIRE(eventually([&] { return s.all[0]->held() == 1; }));
    const auto begin = std::chrono::steady_clock::now();
    s.all[0]->kill();
    for (const auto& each : futures) {
      const auto result = each.get_for(patience);
      REQUIRE(result.has_value());
      CHECK_FALSE(result->has_value());
    }
    // The client sees that the instance is gone, and does not wait for its liveness timeout.
    CHECK(std::chrono::steady_clock::now() - begin < client_silence - 1s);
    CHECK(adds_up(client));
  }
}

TEST_CASE("when an instance is killed another one does what is idempotent") {
  site s{2, {}, repeatable::idempotent};
  auto client = s.client(of_mode(remote_mode::pipeline));
  std::vector<remote_future> futures;
  for (int i = 0; i < 100; ++i)
    futures.push_back(client.submit("hold", data{i}));
  REQUIRE(eventually([&] { return s.all[0]->held() == 1 && s.all[1]->held() == 1; }));
  s.all[0]->kill();
  s.all[1]->let_go();
  for (int i = 0; i < 100; ++i) {
    const auto result = futures[static_cast<std::size_t>(i)].get_for(patience);
    REQUIRE(result.has_value());
    REQUIRE((result->has_value() && **result == data{i}));
  }
  CHECK(client.counters().repeated > 0);
}

TEST_CASE("what a service that closes has not begun others do") {
  site s{2};
  auto client = s.client(of_mode(remote_mode::pipeline));
  std::vector<remote_future> futures;
  for (int i = 0; i < 20; ++i)
    futures.push_back(client.submit("hold", data{i}));
  REQUIRE(eventually([&] { return s.all[0]->held() == 1 && s.all[1]->held() == 1; }));
  std::thread closing{[&] { (*s.all[0])->close(); }};
  REQUIRE(eventually([&] { return (*s.all[0])->closed(); }));
  s.all[0]->let_go();
  s.all[1]->let_go();
  closing.join();
  for (const auto& each : futures) {
    const auto result = each.get_for(patience);
    REQUIRE(result.has_value());
    const auto why = result->has_value() ? std::string{} : result->error().message();
    CHECK(why == "");
  }
}

TEST_CASE("a client that closes completes what is unfinished, and takes no more") {
  site s;
  std::optional<remote> client{s.client()};
  auto held = client->submit("hold", data{1});
  client->close();
  CHECK(held.get().error() == errc::shutting_down);
  CHECK(client->call("echo", data{1}).error() == errc::shutting_down);
  auto also = client->submit("echo", data{1});
  client.reset();
  CHECK(also.get().error() == errc::shutting_down);
  s.all[0]->let_go();
}

TEST_CASE("options of remote execution that are out of range are refused by name") {
  endpoint node;
  const auto refused = [&](auto change) {
    remote_options options;
    change(options);
    const auto client = remote::open(node, "s", options);
    REQUIRE_FALSE(client);
    CHECK(client.error() == errc::invalid_argument);
    return client.error().context();
  };
  CHECK(refused([](auto& x) { x.bulk_operations = 0; }) ==
        "bulk_operations is 0; it is at least 1");
  CHECK(refused([](auto& x) { x.liveness_timeout = -5ns; }) ==
        "liveness_timeout is -5 ns, and must be more than 0");
  CHECK(refused([](auto& x) { x.mode = static_cast<remote_mode>(9); }) ==
        "mode is 9, which is no remote_mode");
  service_options options;
  options.workers = 0;
  const auto it = service::open(node, "s", options);
  REQUIRE_FALSE(it);
  CHECK(it.error().context() == "workers is 0; it is at least 1");
}

TEST_CASE("at a closed endpoint neither a service nor a client opens, and none starts") {
  endpoint node;
  auto opened = *service::open(node, "s");
  node.close(0ms);
  CHECK(service::open(node, "s").error() == errc::shutting_down);
  CHECK(remote::open(node, "s").error() == errc::shutting_down);
  CHECK(opened.start().error() == errc::shutting_down);
  endpoint other;
  const endpoint* const more = &node;
  CHECK(remote::open(other, "s", {}, {&more, 1}).error() == errc::shutting_down);
}

TEST_CASE("an endpoint that is moved beneath a service and a client takes nothing from them") {
  std::optional<endpoint> first{std::in_place}, second{std::in_place};
  join(*second, *first);
  auto it = *service::open(*first, "s");
  REQUIRE(it.add("echo", [](const data_view& x) -> expected<data> { return x.to_data(); }));
  const endpoint* const more = &*second;
  auto client = *remote::open(*first, "s", of_mode(remote_mode::async), {&more, 1});
  endpoint moved_first = std::move(*first), moved_second = std::move(*second);
  first.reset();
  second.reset();
  REQUIRE(it.start());
  REQUIRE(client.wait_for_instances(1, patience));
  CHECK(client.map("echo", numbers(100)).back().has_value());
  CHECK(it.clients() == 2);
  const auto moved_service = std::move(it);
  auto moved_client = std::move(client);
  CHECK(moved_client.call("echo", data{1}).has_value());
}

TEST_CASE("bytes that are no messages of remote execution are passed over and counted") {
  site s;
  auto client = s.client();
  sent(s.hub.publish(pattern::topic_of_service("s"), data{"nonsense"}));
  sent(s.hub.publish(pattern::topic_of_callers("s"), data{vector{count{3}, count{4}}}));
  CHECK(eventually([&] { return (*s.all[0])->counters().refused == 1; }));
  CHECK(eventually([&] { return client.counters().refused == 1; }));
  CHECK(client.call("echo", data{1}).has_value());
}

TEST_CASE("threads share a client") {
  site s;
  auto client = s.client();
  std::atomic<std::size_t> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < 200; ++i) {
        const auto result = client.call("echo", data{count{i}});
        right += result.has_value() && *result == data{count{i}} ? 1 : 0;
      }
    });
  for (auto& each : threads)
    each.join();
  CHECK(right == 800);
}

TEST_CASE("a client that does not read its replies keeps nobody else from working") {
  endpoint_options narrow;
  narrow.link_queue.capacity_bytes = 100'000;
  endpoint hub{narrow}, greedy, other;
  join(greedy, hub);
  join(other, hub);
  auto it = *service::open(hub, "s");
  REQUIRE(it.add("long", [](const data_view&, data_writer& out) -> expected<void> {
    out.write_string(std::string(50'000, 'x'));
    return {};
  }));
  REQUIRE(it.start());
  // One that asks by hand, and never reads.
  const auto id = endpoint_id::random();
  queue_options small;
  small.capacity_messages = 1;
  auto unread = greedy.make_subscriber(filter{pattern::topic_of_caller(id)}, small);
  auto statuses = greedy.make_subscriber(filter{pattern::topic_of_callers("s")});
  REQUIRE(eventually([&] { return hub.subscribers(pattern::topic_of_caller(id)) > 0; }));
  const auto status = statuses.get_for(patience);
  REQUIRE(status);
  const auto instance = pattern::parse<pattern::service_status>(get_view(*status))->instance;
  data_writer request, arguments;
  constexpr std::size_t n = 2'000; // 100 MB
  for (std::size_t i = 0; i < n; ++i)
    arguments.write_none();
  pattern::write(request, pattern::service_request<pattern::value_list>{
                              id, 1, 0, "long", {n, arguments.bytes()}});
  auto out = greedy.make_publisher(pattern::topic_of_instance(instance));
  REQUIRE(out.wait_for_subscribers(1, patience));
  REQUIRE(out.publish(request.bytes()) == publish_result::taken);
  auto client = *remote::open(other, "s");
  REQUIRE(client.wait_for_instances(1, patience));
  for (int i = 0; i < 50; ++i)
    REQUIRE(client.call_for("long", data{}, 5s).has_value());
  CHECK(it.counters().operations < n); // it is held back, not served into memory
  while (it.counters().operations < n + 50)
    REQUIRE(unread.get_for(patience)); // and goes on when it reads
}

TEST_CASE("results that are too long for the link are errors, those beside them are not") {
  endpoint_options short_frames;
  short_frames.max_frame_bytes = 100'000;
  endpoint hub, user{short_frames}, node{short_frames};
  join(user, hub);
  join(node, hub);
  auto it = *service::open(node, "s");
  REQUIRE(it.add("text", [](const data_view& x) -> expected<data> {
    return data{std::string(x.as_count(), 'x')};
  }));
  REQUIRE(it.start());
  auto client = *remote::open(user, "s", of_mode(remote_mode::bulk));
  REQUIRE(client.wait_for_instances(1, patience));
  const std::vector<data> sizes{data{count{10}}, data{count{200'000}}, data{count{20}}};
  const auto results = client.map("text", sizes, grouping::in_bulk);
  CHECK(results[0].has_value());
  REQUIRE_FALSE(results[1].has_value());
  CHECK(results[1].error().code() == errc::limit_exceeded);
  CHECK(results[2].has_value());
  const auto argument = client.call("text", data{std::string(200'000, 'y')});
  REQUIRE_FALSE(argument.has_value());
  CHECK(argument.error().code() == errc::limit_exceeded);
}

TEST_CASE("in mode auto only long results go over several connections") {
  site s;
  endpoint other;
  join(other, s.hub);
  const endpoint* const more = &other;
  auto client = *remote::open(s.user, "s", of_mode(remote_mode::auto_), {&more, 1});
  REQUIRE(client.wait_for_instances(1, patience));
  const auto came = [&] { return other.counters().links.bytes_received; };
  REQUIRE(client.map("echo", numbers(1'000)).size() == 1'000);
  const auto before = came();
  CHECK(before < 10'000);
  constexpr count mebibytes_16 = count{16} << 20;
  for (int i = 0; i < 4; ++i)
    CHECK(client.call("text", data{mebibytes_16}).has_value());
  CHECK(came() > before + mebibytes_16);
}

TEST_CASE("several connections share what is asked in parallel, results stay in order") {
  site s;
  std::vector<endpoint> others(3);
  std::vector<const endpoint*> more;
  for (auto& each : others) {
    join(each, s.hub);
    more.push_back(&each);
  }
  auto client = *remote::open(s.user, "s", of_mode(remote_mode::async), more);
  REQUIRE(client.wait_for_instances(1, patience));
  const auto results = client.map("echo", numbers(1'001));
  REQUIRE(results.size() == 1'001);
  for (std::uint64_t i = 0; i < results.size(); ++i)
    REQUIRE((results[i].has_value() && *results[i] == data{count{i}}));
  std::vector<remote_future> futures;
  for (const auto& each : numbers(100))
    futures.push_back(client.submit("echo", each));
  for (std::uint64_t i = 0; i < futures.size(); ++i)
    CHECK(*futures[i].get() == data{count{i}});
  CHECK(client.map("echo", numbers(10), grouping::in_bulk).size() == 10);
  CHECK((*s.all[0])->clients() == 4);
  CHECK(client.counters().done == 1'111);
  CHECK(client.drain(patience) == 0);
  client.close();
  CHECK(client.closed());
  CHECK(client.call("echo", data{}).error().code() == errc::shutting_down);
}
