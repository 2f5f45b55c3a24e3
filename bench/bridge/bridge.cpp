// `pubsub bench bridge`: events between the two libraries in one process, beside Broker alone.
// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "bridge/broker_ends.hpp"
#include "costs/codec_samples.hpp"
#include "kit/progress.hpp"
#include "kit/report.hpp"
#include "stop_signal.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <pubsub/broker/bridge.hpp>
#include <pubsub/data_writer.hpp>
#include <pubsub/endpoint.hpp>

namespace pubsub::tool {

namespace bench {

namespace {

using steady = std::chrono::steady_clock;

constexpr const char* topic = "bench/events";
/// Events on their way at most: Broker holds what waits without a bound.
constexpr std::uint64_t window = 65'536;
/// The publisher looks at the window so often, and the rest of it must be larger.
constexpr std::uint64_t look_every = 256;
/// A round in which nothing comes for so long has lost what is missing.
constexpr std::chrono::seconds patience{30};

struct bridge_bench_options {
  std::uint64_t events = 1'000'000;
  unsigned rounds = 5;
  std::string input = "bench/data/conn.log";
  std::string json_file;
};

/// One thread publishes, this one receives. Events a second, from the first one published to the
/// last one received, and how many came.
struct one_run {
  double rate = 0;
  std::uint64_t delivered = 0;
};

one_run run_stream(std::uint64_t events, const std::function<void()>& publish,
                   const std::function<std::size_t()>& take) {
  std::atomic<std::uint64_t> received{0};
  std::atomic<bool> over{false};
  const auto begin = steady::now();
  std::thread publisher{[&] {
    for (std::uint64_t sent = 0; sent < events && !over; ++sent) {
      if (sent % look_every == 0)
        while (sent - received.load(std::memory_order_relaxed) > window - look_every && !over)
          std::this_thread::yield();
      publish();
    }
  }};
  auto last = steady::now();
  std::uint64_t delivered = 0;
  while (delivered < events) {
    const auto n = take();
    const auto now = steady::now();
    if (n == 0 && now - last > patience)
      break;
    if (n > 0)
      last = now;
    delivered += n;
    received.store(delivered, std::memory_order_relaxed);
  }
  over = true;
  publisher.join();
  const auto seconds = std::chrono::duration<double>(last - begin).count();
  return {static_cast<double>(delivered) / std::max(seconds, 1e-9), delivered};
}

/// What a row measures.
enum class way : std::uint8_t { broker_alone, from_broker, to_broker };

struct bridge_row {
  way what;
  const char* key;
  const char* name;
  std::vector<double> rates;
  std::uint64_t published = 0;
  std::uint64_t delivered = 0;
};

class bridge_bench {
public:
  bridge_bench(const bridge_bench_options& options, data event, const stop_signal& stop)
      : options_(options), event_(std::move(event)), stop_(stop) {}

  exit_code run() {
    for (unsigned round = 1; round <= options_.rounds; ++round)
      for (auto& row : rows_) {
        progress_.show(fmt::format("round {}: {}", round, row.name));
        if (!measure(row))
          return exit_code::connect;
        if (stop_.requested())
          return exit_code::usage;
      }
    print();
    const auto saved = save_report(options_.json_file, "bridge", params(), described());
    return saved == exit_code::ok ? outcome() : saved;
  }

private:
  /// Both endpoints are new in each run.
  bool measure(bridge_row& row) {
    const auto theirs = make_broker_endpoint();
    endpoint ours;
    broker::bridge_options how;
    how.from_broker_queue = {.capacity_messages = 2 * window};
    how.to_broker_queue = {.capacity_messages = 2 * window};
    how.from_broker = {row.what == way::from_broker ? topic : "bench/none"};
    how.to_broker = {topic};
    auto between = broker::bridge::open(*theirs, ours, how);
    if (!between || !between->wait_ready(patience))
      return complain("the bridge is not ready"), false;
    auto their_event = event_of_broker(*theirs, ours);
    if (!their_event)
      return complain("no event came over the bridge"), false;
    if (row.what == way::broker_alone)
      between->close();
    const auto result = row.what == way::from_broker ? run_from_broker(*theirs, ours, *their_event)
                        : row.what == way::to_broker ? run_to_broker(*theirs, ours)
                                                     : run_alone(*theirs, *their_event);
    row.rates.push_back(result.rate);
    row.published += options_.events;
    row.delivered += result.delivered;
    return true;
  }

  std::optional<::broker::data> event_of_broker(::broker::endpoint& theirs, endpoint& ours) const {
    broker_reader in{theirs, topic};
    const auto until = steady::now() + patience;
    while (steady::now() < until) { // the subscriber of Broker may not be known yet
      (void)ours.publish(topic, event_);
      if (in.take() > 0)
        return in.last();
    }
    return {};
  }

  one_run run_alone(::broker::endpoint& theirs, const ::broker::data& event) const {
    broker_reader in{theirs, topic};
    do
      publish_locally(theirs, topic, event);
    while (in.take() == 0);
    while (in.take() != 0) {
    } // what else was for the start
    return run_stream(
        options_.events, [&] { publish_locally(theirs, topic, event); }, [&] { return in.take(); });
  }
  one_run run_from_broker(::broker::endpoint& theirs, endpoint& ours,
                          const ::broker::data& event) const {
    auto in = ours.make_subscriber({topic}, {.capacity_messages = 2 * window});
    std::vector<data_message> batch;
    const ::broker::topic their_topic{topic};
    return run_stream(
        options_.events, [&] { theirs.publish(their_topic, event); },
        [&]() -> std::size_t {
          batch.clear();
          (void)in.get_batch_for(batch, 4096, std::chrono::seconds{1});
          return batch.size();
        });
  }
  one_run run_to_broker(::broker::endpoint& theirs, endpoint& ours) const {
    broker_reader in{theirs, topic};
    do
      (void)ours.publish(topic, event_);
    while (in.take() == 0);
    while (in.take() != 0) {
    }
    auto out = ours.make_publisher(topic);
    data_writer writer;
    return run_stream(
        options_.events,
        [&] {
          writer.clear();
          writer.write(event_);
          (void)out.publish(writer.bytes());
        },
        [&] { return in.take(); });
  }

  /// The median of the rounds' ratios to Broker alone; nothing if events were lost.
  std::optional<double> ratio(const bridge_row& row) const {
    const auto& alone = rows_[0];
    if (row.rates.size() != alone.rates.size() || row.rates.empty() ||
        row.delivered != row.published || alone.delivered != alone.published)
      return {};
    std::vector<double> ratios;
    for (std::size_t i = 0; i < row.rates.size(); ++i)
      ratios.push_back(row.rates[i] / alone.rates[i]);
    return rate_statistics::of(std::move(ratios)).median;
  }

  void print() const {
    fmt::print("{:34} {:>10} {:>10} {:>10} {:>14} {:>6}\n",
               fmt::format("Broker {}, one process", broker_version()), "events/s", "min", "max",
               "it / Broker", "lost");
    for (const auto& row : rows_) {
      const auto rate = rate_statistics::of(row.rates);
      const auto found = ratio(row);
      fmt::print("  {:32} {:10.0f} {:10.0f} {:10.0f} {:>14} {:6}\n", row.name, rate.median,
                 rate.min, rate.max, found ? fmt::format("{:.2f}", *found) : "-",
                 row.published - row.delivered);
    }
  }

  json_object params() const {
    json_object result;
    result.add("events", options_.events)
        .add("rounds", options_.rounds)
        .add("input", options_.input)
        .add("broker", broker_version());
    return result;
  }
  std::vector<json_object> described() const {
    std::vector<json_object> result;
    for (const auto& row : rows_) {
      json_object each;
      each.add("way", row.key)
          .add("msgs_per_s", describe(rate_statistics::of(row.rates)))
          .add("to_broker_alone", ratio(row).value_or(std::numeric_limits<double>::quiet_NaN()))
          .add("published", row.published)
          .add("delivered", row.delivered)
          .add("dropped", row.published - row.delivered);
      result.push_back(std::move(each));
    }
    return result;
  }
  exit_code outcome() const {
    const bool lost =
        std::ranges::any_of(rows_, [](const auto& row) { return row.delivered != row.published; });
    return lost ? exit_code::loss : exit_code::ok;
  }

  const bridge_bench_options& options_;
  const data event_;
  const stop_signal& stop_;
  progress progress_;
  std::vector<bridge_row> rows_{
      {way::broker_alone, "broker", "Broker to its own subscriber", {}},
      {way::from_broker, "from-broker", "Broker, bridge, libpubsub", {}},
      {way::to_broker, "to-broker", "libpubsub, bridge, Broker", {}},
  };
};

exit_code run_bridge(const bridge_bench_options& options) {
  auto event = sample_of_log(options.input);
  if (!event)
    return complain(explain(event.error()) + "; name a Zeek log with --input"), exit_code::usage;
  stop_signal stop;
  return bridge_bench{options, std::move(event->value), stop}.run();
}

constexpr const char* bridge_examples = R"(Examples:
  pubsub bench bridge
      1,000,000 events with a conn record each way over a bridge, and from Broker to itself
  pubsub bench bridge --events 200000 --rounds 9 --json bridge.json
In each round every row is measured once, with new endpoints. One thread publishes an event after the
other, each made anew, another receives; no more than 65,536 are on their way. The rate is from the
first event published to the last one received; "it / Broker" is the median of the rounds' ratios to
Broker alone, if no event was lost. Status 3 if one was.)";

} // namespace

} // namespace bench

void add_bench_bridge(CLI::App& bench, exit_code& outcome) {
  auto options = std::make_shared<bench::bridge_bench_options>();
  auto* const command =
      bench.add_subcommand("bridge", "Events over a bridge to Broker, beside Broker alone");
  command->add_option("--events", options->events, "Events in each measurement")
      ->check(CLI::Range(1U, 100'000'000U))
      ->capture_default_str();
  command->add_option("--rounds", options->rounds, "Measurements of each row")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  command->add_option("--input", options->input, "A Zeek log, for a record of it")
      ->type_name("FILE")
      ->capture_default_str();
  command->add_option("--json", options->json_file, "Write all figures to FILE")->type_name("FILE");
  command->footer(bench::bridge_examples);
  command->callback([options, &outcome] { outcome = bench::run_bridge(*options); });
}

} // namespace pubsub::tool
