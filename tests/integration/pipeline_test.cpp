// Exchanges and queues over real endpoints.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"

#include <pubsub/data_writer.hpp>
#include <pubsub/pattern/pipeline.hpp>

#include <atomic>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <type_traits>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

/// What must open: an exchange, or a queue.
template <class Part, class Options>
Part open(const endpoint& at, std::string_view name, const Options& options) {
  auto result = Part::open(at, name, options);
  REQUIRE(result);
  return *std::move(result);
}
exchange open_exchange(const endpoint& at, std::string_view name,
                       const exchange_options& options = {}) {
  return open<exchange>(at, name, options);
}
task_queue open_queue(const endpoint& at, std::string_view name,
                      const task_queue_options& options = {}) {
  return open<task_queue>(at, name, options);
}

/// Threads that take tasks and hand on their numbers, until the queue is closed.
class worker {
public:
  worker(endpoint& at, std::string_view from, std::string_view to, exchange_options out = {},
         task_queue_options in = {})
      : in_(open_queue(at, "", in)), out_(open_exchange(at, "", out)) {
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
      if (!out_.send(result, std::move(*one)))
        return;
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
    auto one = from.get_for(patience);
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
  auto out = open_exchange(nodes.front(), "tasks");
  auto sink = open_queue(nodes.back(), "results");
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
  auto early = open_queue(nodes.back(), "");
  early.bind("later");
  exchange_options options;
  auto out = open_exchange(nodes.front(), "later", options);
  CHECK(out.send_for(data{"first"}, patience)); // it may wait
  auto one = early.get_for(patience);
  REQUIRE(one);
  CHECK(one->value().as_string() == "first");
  one->done();
  CHECK(out.drain(patience) == 0);

  auto unnamed = open_exchange(nodes.front(), "");
  unnamed.bind("by its name");
  CHECK(unnamed.send(data{"second"}));
  auto late = open_queue(nodes.back(), "by its name");
  one = late.get_for(patience);
  REQUIRE(one);
  CHECK(one->value().as_string() == "second");
}

TEST_CASE("a queue tells whether there is an exchange of the name it is bound to") {
  chain nodes{3};
  auto in = open_queue(nodes.back(), "");
  in.bind("tasks");
  CHECK_FALSE(in.wait_for_exchanges(1, 20ms));
  auto other = open_exchange(nodes.front(), "others");
  auto out = open_exchange(nodes.front(), "tasks");
  CHECK(in.wait_for_exchanges(1, patience)); // before there is a task
  CHECK(in.exchanges() == 1);
  CHECK_FALSE(in.wait_for_exchanges(2, 20ms));
  auto named = open_queue(nodes.back(), "by name");
  CHECK(named.exchanges() == 0);
  out.bind("by name");
  CHECK(named.wait_for_exchanges(1, patience));
}

TEST_CASE("of two exchanges of a name the younger one closes, and says why") {
  chain nodes{3};
  auto one = open_exchange(nodes.front(), "tasks");
  auto other = open_exchange(nodes.back(), "tasks");
  REQUIRE(eventually([&] { return one.closed() || other.closed(); }));
  auto& loser = one.closed() ? one : other;
  auto& winner = one.closed() ? other : one;
  REQUIRE(loser.closed());
  CHECK(loser.send(data{}).error() == errc::invalid_argument);
  CHECK(loser.failure() == errc::invalid_argument);
  CHECK(loser.failure().context() ==
        "another exchange is named 'tasks': " + to_string(winner.id()));
  CHECK_FALSE(winner.failure());

  loser.close();
  auto of_another_name = open_exchange(nodes.back(), "others");
  exchange_options local;
  local.scope = name_scope::local;
  auto of_this_node = open_exchange(nodes.back(), "tasks", local);
  auto in = open_queue(nodes.back(), "");
  in.bind("tasks");
  CHECK(winner.send_for(data{}, patience));
  auto first = in.get_for(patience);
  REQUIRE(first);
  CHECK(first->source() == winner.id());
  CHECK_FALSE(of_another_name.closed());
  CHECK_FALSE(of_this_node.closed());
}

TEST_CASE("an exchange or a queue whose options are out of range does not open, and says why") {
  endpoint ep;
  const auto refuses = [&](const auto& options, std::string_view why) {
    using part = std::conditional_t<std::is_same_v<decltype(options), const exchange_options&>,
                                    exchange, task_queue>;
    const auto opened = part::open(ep, "x", options);
    REQUIRE_FALSE(opened);
    CHECK(opened.error() == errc::invalid_argument);
    CHECK(opened.error().context() == why);
  };
  refuses(exchange_options{.window_tasks = 0}, "window_tasks is 0; it is at least 1");
  refuses(exchange_options{.max_losses = 0}, "max_losses is 0; it is at least 1");
  refuses(exchange_options{.liveness_timeout = 499ms},
          "liveness_timeout is 499000000 ns; it is at least 500 ms");
  refuses(task_queue_options{.credit_tasks = 0}, "credit_tasks is 0; it is at least 1");
  refuses(task_queue_options{.batch_tasks = 0}, "batch_tasks is 0; it is at least 1");
  refuses(task_queue_options{.concurrency = 0}, "concurrency is 0; it is at least 1");
}

TEST_CASE("at a closed endpoint neither an exchange nor a queue opens") {
  endpoint ep;
  ep.close();
  CHECK(exchange::open(ep, "x").error() == errc::shutting_down);
  CHECK(task_queue::open(ep, "x").error() == errc::shutting_down);
}

TEST_CASE("exchanges and queues go on where their endpoint object is moved") {
  std::optional<endpoint> ep{std::in_place};
  auto out = open_exchange(*ep, "tasks");
  auto in = open_queue(*ep, "");
  in.bind("tasks");
  REQUIRE(out.wait_for_queues(1, patience));
  endpoint moved{std::move(*ep)};
  ep.reset();
  auto results = open_exchange(moved, "");
  results.bind("results");
  auto sink = open_queue(moved, "results");
  out.bind("by name"); // makes a publisher
  auto named = open_queue(moved, "by name");
  REQUIRE(out.wait_for_queues(2, patience));
  for (std::uint64_t i = 0; i < 10; ++i)
    REQUIRE(out.send(i));
  for (std::uint64_t done = 0; done < 10;)
    for (auto* const each : {&in, &named})
      if (auto one = each->get_for(1ms)) {
        const auto value = one->value().bytes();
        REQUIRE(results.send(value, *std::move(one)));
        ++done;
      }
  for (std::uint64_t i = 0; i < 10; ++i) {
    auto one = sink.get_for(patience);
    REQUIRE(one);
    one->done();
  }
  CHECK(out.drain(patience) == 0);
}

TEST_CASE("two queues that send results through one exchange acknowledge their own tasks") {
  endpoint ep;
  exchange_options to_both;
  to_both.style = exchange_style::data_distribution;
  auto out = open_exchange(ep, "tasks", to_both);
  task_queue queues[] = {open_queue(ep, ""), open_queue(ep, "")};
  for (auto& each : queues)
    each.bind("tasks");
  auto results = open_exchange(ep, "");
  results.bind("results");
  auto sink = open_queue(ep, "results");
  REQUIRE(out.wait_for_queues(2, patience));
  REQUIRE(out.send(1));
  for (auto& each : queues) {
    auto one = each.get_for(patience);
    REQUIRE(one);
    const auto value = one->value().bytes();
    REQUIRE(results.send(value, *std::move(one)));
  }
  for (int i = 0; i < 2; ++i) {
    auto result = sink.get_for(patience);
    REQUIRE(result);
    result->done();
  }
  CHECK(out.drain(patience) == 0);
}

TEST_CASE("tasks, results and acknowledgements go in batches, too") {
  chain nodes{3};
  exchange_options options;
  options.window_tasks = 100;
  auto out = open_exchange(nodes.front(), "tasks", options);
  auto work = open_queue(*nodes.all[1], "");
  work.bind("tasks");
  auto results = open_exchange(*nodes.all[1], "");
  results.bind("results");
  auto sink = open_queue(nodes.back(), "results");
  std::thread sender{[&] {
    data_writer values;
    for (std::uint64_t i = 0; i < 1'000; ++i)
      values.write_count(i);
    CHECK(out.send_batch(values.bytes())); // more than the window has room for
  }};
  std::thread worker{[&] {
    data_writer values;
    while (auto tasks = work.get_batch(50)) {
      CHECK(tasks->size() <= 50);
      values.clear();
      for (const auto& each : *tasks)
        values.write_count(each.value().as_count() + 1);
      CHECK(results.send_batch(values.bytes(), *std::move(tasks)));
    }
  }};
  std::set<std::uint64_t> seen;
  while (seen.size() < 1'000) {
    auto tasks = sink.get_batch_for(70, patience);
    REQUIRE(tasks);
    for (const auto& each : *tasks) {
      CHECK(each.value().as_count() == each.number() + 1);
      CHECK(seen.insert(each.number()).second);
    }
    task::done(*std::move(tasks));
  }
  sender.join();
  CHECK(out.drain(patience) == 0);
  CHECK(out.counters().in_flight_max == 100);
  work.close();
  worker.join();
  CHECK(work.get_batch_for(1, 1ms).closed());
}

TEST_CASE("what is taken in a batch and not done is done by another") {
  endpoint ep;
  auto out = open_exchange(ep, "tasks");
  auto in = open_queue(ep, "");
  in.bind("tasks");
  data_writer values;
  for (std::uint64_t i = 0; i < 3; ++i)
    values.write_count(i);
  REQUIRE(out.send_batch(values.bytes()));
  std::set<std::uint64_t> marked;
  for (unsigned taken = 0; taken < 6;) {
    auto tasks = in.get_batch_for(10, patience);
    REQUIRE(tasks);
    taken += static_cast<unsigned>(tasks->size());
    std::vector<task> again;
    for (auto& each : *tasks)
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
  auto out = open_exchange(ep, "x", options);
  for (std::uint64_t i = 0; i < 10; ++i)
    CHECK(out.send(i));
  CHECK(out.send_for(data{count{10}}, 10ms).error() == errc::request_timeout);
  CHECK(out.in_flight() == 10);
  auto in = open_queue(ep, "");
  in.bind("x");
  for (std::uint64_t i = 0; i < 3; ++i) {
    auto one = in.get_for(patience);
    REQUIRE(one);
    CHECK(one->value().as_count() == i);
    one->done();
  }
  for (std::uint64_t i = 10; i < 13; ++i)
    CHECK(out.send_for(data{i}, patience));
  CHECK(out.send_for(data{count{13}}, 10ms).error() == errc::request_timeout);
  CHECK(out.in_flight() == 10);
}

TEST_CASE("the tasks of a worker that is gone are done by another, and marked") {
  chain nodes{3}; // the exchange, a relay, and what is not lost
  auto out = open_exchange(nodes.front(), "x");
  auto doomed = std::make_unique<endpoint>();
  join(*doomed, *nodes.all[1]);
  std::optional<task_queue> lost{open_queue(*doomed, "")};
  lost->bind("x");
  REQUIRE(out.wait_for_queues(1, patience));
  for (std::uint64_t i = 0; i < 20; ++i)
    REQUIRE(out.send(i));
  std::set<std::uint64_t> done;
  for (int i = 0; i < 5; ++i) {
    auto one = lost->get_for(patience);
    REQUIRE(one);
    done.insert(one->value().as_count());
    one->done();
  }
  const auto held = lost->get_for(patience); // being worked on when the end comes
  REQUIRE(held);
  REQUIRE(eventually([&] { return out.counters().done == 5; }));
  doomed->close();
  auto in = open_queue(nodes.back(), "");
  in.bind("x");
  std::size_t marked = 0;
  while (done.size() < 20) {
    auto one = in.get_for(patience);
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
  auto out = open_exchange(ep, "x", options);
  auto dead = open_queue(ep, "dead");
  auto in = open_queue(ep, "");
  in.bind("x");
  CHECK(out.send(data{"poison"}));
  CHECK(out.send(data{"meat"}));
  std::size_t rejected = 0;
  bool eaten = false;
  while (!eaten || rejected < 3) {
    auto one = in.get_for(patience);
    REQUIRE(one);
    if (one->value().as_string() == "meat") {
      eaten = true;
      one->done();
    } else {
      CHECK(one->redelivered() == (rejected > 0));
      ++rejected; // by leaving the scope
    }
  }
  auto buried = dead.get_for(patience);
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
  auto out = open_exchange(ep, "tasks");
  worker first{ep, "tasks", "middle"};
  auto middle_in = open_queue(ep, "middle");
  auto middle_out = open_exchange(ep, "middle out");
  worker second{ep, "middle out", "results"};
  std::thread intermediate{[&] {
    while (auto one = middle_in.get()) {
      const auto value = one->value().to_data();
      CHECK(middle_out.send(value, std::move(*one)));
    }
  }};
  auto sink = open_queue(ep, "results");
  for (std::uint64_t i = 0; i < 50; ++i)
    REQUIRE(out.send(i));
  std::vector<task> held;
  for (int i = 0; i < 50; ++i) {
    auto one = sink.get_for(patience);
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
  auto out = open_exchange(ep, "tasks", options);
  task_queue_options by_number;
  by_number.order = task_order::by_number;
  auto sink = open_queue(ep, "results", by_number);
  std::mt19937 engine{3};
  auto in = open_queue(ep, "");
  in.bind("tasks");
  auto results = open_exchange(ep, "");
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
          CHECK(results.send(each.value().bytes(), std::move(each)));
      held.clear();
    }
  }};
  for (std::uint64_t i = 0; i < messages; ++i) {
    if (i == poison)
      continue;
    auto one = sink.get_for(patience);
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
  auto out = open_exchange(ep, "x", options);
  auto one = open_queue(ep, "");
  auto other = open_queue(ep, "");
  one.bind("x");
  other.bind("x");
  REQUIRE(out.wait_for_queues(2, patience));
  for (std::uint64_t i = 0; i < 100; ++i)
    REQUIRE(out.send(i));
  for (auto* const each : {&one, &other})
    for (std::uint64_t i = 0; i < 100; ++i) {
      auto next = each->get_for(patience);
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
  auto out = open_exchange(nodes.front(), "x", here);
  auto global = open_queue(nodes.front(), "");
  global.bind("x");
  task_queue_options there;
  there.scope = name_scope::local;
  auto elsewhere = open_queue(nodes.back(), "", there);
  elsewhere.bind("x");
  auto same = open_queue(nodes.front(), "", there);
  same.bind("x");
  REQUIRE(out.send(data{1}));
  auto one = same.get_for(patience);
  REQUIRE(one);
  one->done();
  CHECK(out.drain(patience) == 0);
  CHECK(out.queues() == 1);
}

TEST_CASE("closing ends all waits, and what was not done is not acknowledged") {
  endpoint ep;
  exchange_options options;
  options.window_tasks = 1;
  auto out = open_exchange(ep, "x", options);
  auto in = open_queue(ep, "no exchange sends here");
  std::thread waits[] = {
      std::thread{[&] { CHECK(in.get().closed()); }},
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
  CHECK(out.send(data{1}).error() == errc::shutting_down);
  CHECK(in.try_get().closed());
}

TEST_CASE("a name that begins with another name and a slash is another name") {
  endpoint ep;
  auto tasks = *task_queue::open(ep, "tasks");
  auto dead = *task_queue::open(ep, "tasks/dead");
  auto out = *exchange::open(ep, "");
  out.bind("tasks/dead");
  REQUIRE(out.wait_for_queues(1, patience));
  for (std::uint64_t i = 0; i < 10; ++i) {
    REQUIRE(out.send(count{i}));
    auto one = dead.get_for(patience);
    REQUIRE(one);
    CHECK(one->value().as_count() == i);
    one->done();
  }
  CHECK(out.queues() == 1);
  CHECK(tasks.exchanges() == 0);
}
