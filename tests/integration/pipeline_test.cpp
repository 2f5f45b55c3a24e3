// Exchanges and queues over real endpoints.
#include "support/nodes.hpp"

#include <pubsub/data_writer.hpp>
#include <pubsub/pattern/pipeline.hpp>

#include <atomic>
#include <map>
#include <random>
#include <set>
#include <thread>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

/// Threads that take tasks and hand on their numbers, until the queue is closed.
class worker {
public:
  worker(endpoint& at, std::string_view from, std::string_view to, exchange_options out = {},
         task_queue_options in = {})
      : in_(at, "", in), out_(at, "", out) {
    in_.bind(from);
    out_.bind(to);
    thread_ = std::thread{[this] { run(); }};
  }
  ~worker() { stop(); }
  void stop() {
    in_.close();
    if (thread_.joinable())
      thread_.join();
    out_.close();
  }
  std::size_t tasks() const { return tasks_; }

private:
  void run() {
    while (auto one = in_.get()) {
      ++tasks_;
      const auto result = one->value().bytes();
      out_.send_encoded(result, std::move(*one));
    }
  }

  task_queue in_;
  exchange out_;
  std::atomic<std::size_t> tasks_{0};
  std::thread thread_;
};

struct results {
  std::map<std::uint64_t, std::size_t> times; // a number came
  std::size_t marked = 0;
};

/// Takes results until nothing has come for so long.
void collect(task_queue& from, results& into, std::size_t wanted) {
  while (into.times.size() < wanted) {
    auto one = from.get(patience);
    if (!one)
      return;
    ++into.times[one->value().as_count()];
    into.marked += one->redelivered() ? 1 : 0;
    one->done();
  }
}

} // namespace

TEST_CASE("tasks are shared among workers at other nodes, and every result comes once") {
  chain nodes{4}; // ventilator, relay, workers, sink
  exchange out{nodes.front(), "tasks"};
  task_queue sink{nodes.back(), "results"};
  worker one{*nodes.all[2], "tasks", "results"};
  worker other{*nodes.all[2], "tasks", "results"};
  REQUIRE(out.wait_for_queues(2, patience));
  constexpr std::size_t messages = 20'000;
  results all;
  std::thread reader{[&] { collect(sink, all, messages); }};
  for (std::uint64_t i = 0; i < messages; ++i)
    REQUIRE(out.send(i));
  CHECK(out.drain(patience) == 0);
  reader.join();
  CHECK(all.times.size() == messages);
  for (const auto& [number, times] : all.times)
    CHECK(times == 1);
  CHECK(all.marked == 0);
  CHECK(one.tasks() + other.tasks() == messages);
  CHECK(one.tasks() > 0);
  CHECK(other.tasks() > 0);
  const auto counted = out.counters();
  CHECK(counted.sent == messages);
  CHECK(counted.done == messages);
  CHECK(counted.redelivered == 0);
}

TEST_CASE("exchanges and queues find each other in any order of starting") {
  chain nodes{2};
  task_queue early{nodes.back(), ""};
  early.bind("later");
  exchange_options options;
  exchange out{nodes.front(), "later", options};
  CHECK(out.send(data{"first"}, patience)); // it may wait
  auto one = early.get(patience);
  REQUIRE(one);
  CHECK(one->value().as_string() == "first");
  one->done();
  CHECK(out.drain(patience) == 0);

  exchange unnamed{nodes.front(), ""};
  unnamed.bind("by its name");
  CHECK(unnamed.send(data{"second"}));
  task_queue late{nodes.back(), "by its name"};
  one = late.get(patience);
  REQUIRE(one);
  CHECK(one->value().as_string() == "second");
}

TEST_CASE("a queue tells whether there is an exchange of the name it is bound to") {
  chain nodes{3};
  task_queue in{nodes.back(), ""};
  in.bind("tasks");
  CHECK_FALSE(in.wait_for_exchanges(1, 20ms));
  exchange other{nodes.front(), "others"};
  exchange out{nodes.front(), "tasks"};
  CHECK(in.wait_for_exchanges(1, patience)); // before there is a task
  CHECK(in.exchanges() == 1);
  CHECK_FALSE(in.wait_for_exchanges(2, 20ms));
  task_queue named{nodes.back(), "by name"};
  CHECK(named.exchanges() == 0);
  out.bind("by name");
  CHECK(named.wait_for_exchanges(1, patience));
}

TEST_CASE("of two exchanges of a name the younger one closes, and says why") {
  chain nodes{3};
  std::optional<exchange> one{std::in_place, nodes.front(), "tasks"};
  std::optional<exchange> other{std::in_place, nodes.back(), "tasks"};
  REQUIRE(eventually([&] { return one->closed() || other->closed(); }));
  auto& loser = one->closed() ? *one : *other;
  auto& winner = one->closed() ? *other : *one;
  REQUIRE(loser.closed());
  CHECK_FALSE(loser.send(data{}));
  CHECK(loser.failure() == errc::invalid_argument);
  CHECK(loser.failure().context() ==
        "another exchange is named 'tasks': " + to_string(winner.id()));
  CHECK_FALSE(winner.failure());

  loser.close();
  exchange of_another_name{nodes.back(), "others"};
  exchange_options local;
  local.scope = name_scope::local;
  exchange of_this_node{nodes.back(), "tasks", local};
  task_queue in{nodes.back(), ""};
  in.bind("tasks");
  CHECK(winner.send(data{}, patience));
  auto first = in.get(patience);
  REQUIRE(first);
  CHECK(first->source() == winner.id());
  CHECK_FALSE(of_another_name.closed());
  CHECK_FALSE(of_this_node.closed());
}

TEST_CASE("an exchange that cannot be is closed, and says why") {
  endpoint ep;
  exchange_options options;
  options.window_tasks = 0;
  exchange out{ep, "x", options};
  CHECK(out.closed());
  CHECK_FALSE(out.send(data{}));
  CHECK(out.drain(patience) == 0);
  CHECK(out.failure().context() == "a window has room for one task at least");
  options.window_tasks = 1;
  options.max_losses = 0;
  CHECK(exchange{ep, "y", options}.failure() == errc::invalid_argument);
}

TEST_CASE("tasks, results and acknowledgements go in batches, too") {
  chain nodes{3};
  exchange_options options;
  options.window_tasks = 100;
  exchange out{nodes.front(), "tasks", options};
  task_queue work{*nodes.all[1], ""};
  work.bind("tasks");
  exchange results{*nodes.all[1], ""};
  results.bind("results");
  task_queue sink{nodes.back(), "results"};
  std::thread sender{[&] {
    data_writer values;
    for (std::uint64_t i = 0; i < 1'000; ++i)
      values.write_count(i);
    CHECK(out.send_batch(values.bytes())); // more than the window has room for
  }};
  std::thread worker{[&] {
    data_writer values;
    for (auto tasks = work.get_batch(50); !tasks.empty(); tasks = work.get_batch(50)) {
      CHECK(tasks.size() <= 50);
      values.clear();
      for (const auto& each : tasks)
        values.write_count(each.value().as_count() + 1);
      CHECK(results.send_batch(values.bytes(), std::move(tasks)));
    }
  }};
  std::set<std::uint64_t> seen;
  while (seen.size() < 1'000) {
    auto tasks = sink.get_batch(70, patience);
    REQUIRE(!tasks.empty());
    for (const auto& each : tasks) {
      CHECK(each.value().as_count() == each.number() + 1);
      CHECK(seen.insert(each.number()).second);
    }
    task::done(std::move(tasks));
  }
  sender.join();
  CHECK(out.drain(patience) == 0);
  CHECK(out.counters().in_flight_max == 100);
  work.close();
  worker.join();
  CHECK(work.get_batch(1, 1ms).empty());
}

TEST_CASE("what is taken in a batch and not done is done by another") {
  endpoint ep;
  exchange out{ep, "tasks"};
  task_queue in{ep, ""};
  in.bind("tasks");
  data_writer values;
  for (std::uint64_t i = 0; i < 3; ++i)
    values.write_count(i);
  REQUIRE(out.send_batch(values.bytes()));
  std::set<std::uint64_t> marked;
  for (unsigned taken = 0; taken < 6;) {
    auto tasks = in.get_batch(10, patience);
    REQUIRE(!tasks.empty());
    taken += static_cast<unsigned>(tasks.size());
    std::vector<task> again;
    for (auto& each : tasks)
      if (each.redelivered()) {
        marked.insert(each.number());
        again.push_back(std::move(each));
      }
    task::done(std::move(again)); // the others are dropped
  }
  CHECK(marked.size() == 3);
  CHECK(out.drain(patience) == 0);
}

TEST_CASE("no more tasks are in flight than the window has room for") {
  endpoint ep;
  exchange_options options;
  options.window_tasks = 10;
  exchange out{ep, "x", options};
  for (std::uint64_t i = 0; i < 10; ++i)
    CHECK(out.send(i));
  CHECK_FALSE(out.send(data{count{10}}, 10ms));
  CHECK(out.in_flight() == 10);
  task_queue in{ep, ""};
  in.bind("x");
  for (std::uint64_t i = 0; i < 3; ++i) {
    auto one = in.get(patience);
    REQUIRE(one);
    CHECK(one->value().as_count() == i);
    one->done();
  }
  for (std::uint64_t i = 10; i < 13; ++i)
    CHECK(out.send(data{i}, patience));
  CHECK_FALSE(out.send(data{count{13}}, 10ms));
  CHECK(out.in_flight() == 10);
}

TEST_CASE("the tasks of a worker that is gone are done by another, and marked") {
  chain nodes{3}; // the exchange, a relay, and what is not lost
  exchange out{nodes.front(), "x"};
  auto doomed = std::make_unique<endpoint>();
  join(*doomed, *nodes.all[1]);
  auto lost = std::make_unique<task_queue>(*doomed, "");
  lost->bind("x");
  REQUIRE(out.wait_for_queues(1, patience));
  for (std::uint64_t i = 0; i < 20; ++i)
    REQUIRE(out.send(i));
  std::set<std::uint64_t> done;
  for (int i = 0; i < 5; ++i) {
    auto one = lost->get(patience);
    REQUIRE(one);
    done.insert(one->value().as_count());
    one->done();
  }
  const auto held = lost->get(patience); // being worked on when the end comes
  REQUIRE(held);
  REQUIRE(eventually([&] { return out.counters().done == 5; }));
  doomed->close();
  task_queue in{nodes.back(), ""};
  in.bind("x");
  std::size_t marked = 0;
  while (done.size() < 20) {
    auto one = in.get(patience);
    REQUIRE(one);
    CHECK(done.insert(one->value().as_count()).second);
    marked += one->redelivered() ? 1 : 0;
    one->done();
  }
  CHECK(marked == out.counters().redelivered);
  CHECK(marked >= 1);
  CHECK(out.drain(patience) == 0);
  CHECK(out.counters().done == 20);
}

TEST_CASE("a task that is rejected again and again ends as a dead letter") {
  endpoint ep;
  exchange_options options;
  options.max_losses = 3;
  options.dead_letters = "dead";
  exchange out{ep, "x", options};
  task_queue dead{ep, "dead"};
  task_queue in{ep, ""};
  in.bind("x");
  CHECK(out.send(data{"poison"}));
  CHECK(out.send(data{"meat"}));
  std::size_t rejected = 0;
  bool eaten = false;
  while (!eaten || rejected < 3) {
    auto one = in.get(patience);
    REQUIRE(one);
    if (one->value().as_string() == "meat") {
      eaten = true;
      one->done();
    } else {
      CHECK(one->redelivered() == (rejected > 0));
      ++rejected; // by leaving the scope
    }
  }
  auto buried = dead.get(patience);
  REQUIRE(buried);
  CHECK(buried->value().as_string() == "poison");
  CHECK(buried->source() == out.id());
  CHECK(buried->number() == 0);
  buried->done();
  CHECK(out.drain(patience) == 0);
  CHECK(out.counters().dead == 1);
  CHECK(out.counters().done == 1);
}

TEST_CASE("a task is acknowledged when the last stage has acknowledged its result") {
  endpoint ep;
  exchange out{ep, "tasks"};
  worker first{ep, "tasks", "middle"};
  task_queue middle_in{ep, "middle"};
  exchange middle_out{ep, "middle out"};
  worker second{ep, "middle out", "results"};
  std::thread intermediate{[&] {
    while (auto one = middle_in.get()) {
      const auto value = one->value().to_data();
      middle_out.send(value, std::move(*one));
    }
  }};
  task_queue sink{ep, "results"};
  for (std::uint64_t i = 0; i < 50; ++i)
    REQUIRE(out.send(i));
  std::vector<task> held;
  for (int i = 0; i < 50; ++i) {
    auto one = sink.get(patience);
    REQUIRE(one);
    CHECK(one->source() == out.id());
    CHECK(one->number() == one->value().as_count());
    held.push_back(std::move(*one));
  }
  CHECK(out.counters().done == 0);
  for (auto& each : held)
    each.done();
  CHECK(out.drain(patience) == 0);
  CHECK(out.counters().done == 50);
  middle_in.close();
  intermediate.join();
}

TEST_CASE("an ordered sink gives out results in the order of submission, also where one is lost") {
  endpoint ep;
  exchange_options options;
  options.max_losses = 1;
  exchange out{ep, "tasks", options};
  task_queue_options by_number;
  by_number.order = task_order::by_number;
  task_queue sink{ep, "results", by_number};
  std::mt19937 engine{3};
  task_queue in{ep, ""};
  in.bind("tasks");
  exchange results{ep, ""};
  results.bind("results");
  constexpr std::uint64_t messages = 500;
  constexpr std::uint64_t poison = 77;
  std::thread ventilator{[&] {
    for (std::uint64_t i = 0; i < messages; ++i)
      CHECK(out.send(i));
  }};
  std::thread work{[&] { // out of order, some ten at a time
    std::vector<task> held;
    while (auto one = in.get()) {
      held.push_back(std::move(*one));
      if (held.size() < 10 && in.available() > 0)
        continue;
      std::ranges::shuffle(held, engine);
      for (auto& each : held)
        if (each.number() == poison)
          each.reject();
        else
          results.send_encoded(each.value().bytes(), std::move(each));
      held.clear();
    }
  }};
  for (std::uint64_t i = 0; i < messages; ++i) {
    if (i == poison)
      continue;
    auto one = sink.get(patience);
    REQUIRE(one);
    CHECK(one->value().as_count() == i);
    one->done();
  }
  CHECK(out.drain(patience) == 0);
  CHECK(out.counters().dead == 1);
  ventilator.join();
  in.close();
  work.join();
}

TEST_CASE("with data distribution every queue gets every task") {
  endpoint ep;
  exchange_options options;
  options.style = exchange_style::data_distribution;
  exchange out{ep, "x", options};
  task_queue one{ep, ""};
  task_queue other{ep, ""};
  one.bind("x");
  other.bind("x");
  REQUIRE(out.wait_for_queues(2, patience));
  for (std::uint64_t i = 0; i < 100; ++i)
    REQUIRE(out.send(i));
  for (auto* const each : {&one, &other})
    for (std::uint64_t i = 0; i < 100; ++i) {
      auto next = each->get(patience);
      REQUIRE(next);
      CHECK(next->value().as_count() == i);
      next->done();
    }
  CHECK(out.drain(patience) == 0);
}

TEST_CASE("local names mean nothing elsewhere") {
  chain nodes{2};
  exchange_options here;
  here.scope = name_scope::local;
  exchange out{nodes.front(), "x", here};
  task_queue global{nodes.front(), ""};
  global.bind("x");
  task_queue_options there;
  there.scope = name_scope::local;
  task_queue elsewhere{nodes.back(), "", there};
  elsewhere.bind("x");
  task_queue same{nodes.front(), "", there};
  same.bind("x");
  REQUIRE(out.send(data{1}));
  auto one = same.get(patience);
  REQUIRE(one);
  one->done();
  CHECK(out.drain(patience) == 0);
  CHECK(out.queues() == 1);
}

TEST_CASE("closing ends all waits, and what was not done is not acknowledged") {
  endpoint ep;
  exchange_options options;
  options.window_tasks = 1;
  exchange out{ep, "x", options};
  task_queue in{ep, "nobody sends here"};
  std::thread waits[] = {
      std::thread{[&] { CHECK_FALSE(in.get()); }},
      std::thread{[&] {
        while (out.send(data{1})) {
        }
      }},
      std::thread{[&] { CHECK_FALSE(out.wait_for_queues(3, 1h)); }},
      std::thread{[&] { CHECK(out.drain(1h) <= 1); }},
  };
  in.close();
  out.close();
  for (auto& each : waits)
    each.join();
  CHECK_FALSE(out.send(data{1}));
  CHECK_FALSE(in.get(0s));
}
