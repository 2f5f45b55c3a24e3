// The process that holds the subscriptions of one row of `bench routing`. It reports on stdout:
//   phase TEXT    what it does now
//   KEY NUMBER    a figure; of the same key come as many as there are samples
//   done
// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "costs/routing.hpp"
#include "kit/child_report.hpp"
#include "kit/process_usage.hpp"
#include "stop_signal.hpp"

#include <algorithm>
#include <deque>
#include <memory>

#include <fmt/format.h>

#include <pubsub/data_writer.hpp>
#include <pubsub/endpoint.hpp>

namespace pubsub::tool {

namespace bench {

namespace {

constexpr unsigned samples = 9;
constexpr std::size_t sample_messages = 10'000;
constexpr std::chrono::milliseconds sample_limit{200};

class routing_part {
public:
  explicit routing_part(const routing_row& row) : row_(row) {
    prefixes_.reserve(row.subscriptions);
    for (std::size_t i = 0; i < row.subscriptions; ++i)
      prefixes_.push_back(fmt::format("routing/{:07}/", i));
    auto used = std::min<std::size_t>(row.subscriptions, 1024);
    for (std::size_t i = 0; i < used; ++i) {
      auto at = i * row.subscriptions / used;
      wanted_.push_back(prefixes_[at] + "conn");
      others_.push_back(fmt::format("elsewhere/{:07}/conn", at));
    }
  }

  void run() {
    report_line("phase", "adding");
    auto heap = heap_bytes();
    auto resident = resident_bytes();
    auto begin = clock::now();
    add();
    report("add_s", std::chrono::duration<double>(clock::now() - begin).count());
    report("heap_bytes", static_cast<double>(heap_bytes()) - static_cast<double>(heap));
    report("resident_bytes", static_cast<double>(resident_bytes()) - static_cast<double>(resident));
    report_line("phase", "publishing");
    publish();
    report_line("phase", "changing");
    change();
    report_line("done");
  }

private:
  static void report(std::string_view key, double value) {
    report_line(key, fmt::format("{}", value));
  }

  static double ns_since(clock::time_point begin) {
    return std::chrono::duration<double, std::nano>(clock::now() - begin).count();
  }

  void add() {
    if (row_.way == routing_way::filter) {
      subscribers_.push_back(ep_.make_subscriber(filter{prefixes_}));
    } else if (row_.way == routing_way::topics) {
      subscribers_.push_back(ep_.make_subscriber(filter{}));
      for (const auto& prefix : prefixes_)
        subscribers_.front().add_topic(prefix);
    } else {
      for (const auto& prefix : prefixes_)
        subscribers_.push_back(ep_.make_subscriber(filter{topic{prefix}}));
    }
  }

  void publish() {
    data_writer writer;
    writer.write_count(42);
    auto one = ep_.make_publisher(wanted_.front());
    auto anywhere = [this](const std::vector<std::string>& topics) {
      return [this, &topics] {
        (void)ep_.publish(topics[next_ % topics.size()], data{next_});
        ++next_;
      };
    };
    for (unsigned i = 0; i < samples; ++i) {
      published_ += sample("publish_match_ns", anywhere(wanted_));
      sample("publish_other_ns", anywhere(others_));
      published_ += sample("publisher_ns", [&] { (void)one.publish(writer.bytes()); });
    }
    report("published", static_cast<double>(published_));
    report("delivered", static_cast<double>(delivered_));
  }

  // The mean of many calls, fewer where they are slow. Returns how many there were.
  template <class Operation>
  std::uint64_t sample(std::string_view key, Operation operation) {
    std::uint64_t calls = 0;
    auto begin = clock::now();
    auto end = begin + sample_limit;
    while (calls < sample_messages && (calls % 64 != 0 || clock::now() < end)) {
      operation();
      ++calls;
    }
    report(key, ns_since(begin) / static_cast<double>(calls));
    drain();
    return calls;
  }

  void drain() {
    if (row_.way != routing_way::subscribers) {
      drain(subscribers_.front());
      return;
    }
    for (std::size_t i = 0; i < wanted_.size(); ++i)
      drain(subscribers_[i * row_.subscriptions / wanted_.size()]);
  }
  void drain(subscriber& one) {
    if (const auto batch = one.try_get_batch())
      delivered_ += batch->size();
  }

  // One more subscription comes and goes.
  void change() {
    constexpr unsigned changes = 200;
    auto end = clock::now() + std::chrono::seconds{2};
    for (unsigned i = 0; i < changes && (i < 3 || clock::now() < end); ++i) {
      auto extra = fmt::format("routing/extra/{}/", i);
      auto begin = clock::now();
      if (row_.way == routing_way::subscribers)
        subscribers_.push_back(ep_.make_subscriber(filter{topic{extra}}));
      else
        subscribers_.front().add_topic(extra);
      auto added = clock::now();
      if (row_.way == routing_way::subscribers)
        subscribers_.pop_back();
      else
        subscribers_.front().remove_topic(extra);
      report("remove_ns", ns_since(added));
      report("add_ns", std::chrono::duration<double, std::nano>(added - begin).count());
    }
  }

  const routing_row& row_;
  std::vector<std::string> prefixes_;
  std::vector<std::string> wanted_; // topics somebody has subscribed to
  std::vector<std::string> others_; // topics nobody has
  endpoint ep_;
  std::deque<subscriber> subscribers_;
  std::size_t next_ = 0;
  std::uint64_t published_ = 0;
  std::uint64_t delivered_ = 0;
};

} // namespace

} // namespace bench

void add_bench_routing_part(CLI::App& app, exit_code& outcome) {
  auto row = std::make_shared<bench::routing_row>();
  auto command = app.add_subcommand("routing-part", "One row of routing (started by routing)");
  command->group(""); // not shown
  command->add_option("--subscriptions", row->subscriptions)->required();
  command->add_option("--way", row->way)
      ->transform(CLI::CheckedTransformer(bench::routing_ways))
      ->required();
  command->callback([row, &outcome] {
    bench::routing_part{*row}.run();
    outcome = exit_code::ok;
    std::_Exit(0); // taking a million subscriptions down one by one is not what is measured
  });
}

} // namespace pubsub::tool
