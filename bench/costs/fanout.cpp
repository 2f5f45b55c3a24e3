// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "kit/process_usage.hpp"
#include "kit/progress.hpp"
#include "kit/report.hpp"
#include "stop_signal.hpp"
#include "stream/stream_ends.hpp"

#include <deque>
#include <memory>
#include <optional>

#include <fmt/format.h>

namespace pubsub::tool {

namespace bench {

namespace {

struct fanout_options {
  std::vector<std::size_t> subscribers{1, 2, 8, 64};
  message_kind messages = message_kind::fresh;
  std::size_t payload_bytes = 100;
  double duration_s = 1;
  unsigned runs = 3;
  double timeout_s = 30;
  std::string json_file;
};

// What was measured with one number of subscribers; a sample is a run.
struct fanout_series {
  std::vector<double> deliveries; // a second
  std::vector<double> message_ns; // from one published message to the next
  std::vector<double> cpu_ns;     // processor time of all threads, a delivery
  sequence_result sequence;
};

class fanout_bench {
public:
  fanout_bench(const fanout_options& options, const stop_signal& stop)
      : options_(options), stop_(stop), contents_(payloads::synthetic(options.payload_bytes)),
        series_(options.subscribers.size()) {}

  exit_code run() {
    auto outcome = exit_code::ok;
    for (unsigned i = 0; i < options_.runs; ++i) // in turns: 1 2 8 64, 1 2 8 64, ...
      for (std::size_t n = 0; n < series_.size(); ++n) {
        auto status = run_once(options_.subscribers[n], series_[n]);
        if (status == exit_code::loss)
          outcome = status;
        else if (status != exit_code::ok)
          return status;
      }
    print();
    auto saved = save_report(options_.json_file, "fanout", params(), results());
    return saved != exit_code::ok ? saved : outcome;
  }

private:
  exit_code run_once(std::size_t subscribers, fanout_series& into) {
    endpoint ep;
    finish_line published;
    finish_line consumed;
    std::deque<consuming_thread> consumers;
    for (std::size_t i = 0; i < subscribers; ++i)
      consumers.emplace_back(ep, options_.messages, 1, queue_options{}, batch_messages, consumed);
    auto cpu_begin = cpu_time();
    auto begin = clock::now();
    publishing_thread publisher{ep, contents_, options_.messages, 0, published};
    auto stopped = watch(consumers);
    publisher.stop();
    auto complete = wait_for_all(consumed, subscribers);
    auto wall = std::chrono::duration<double, std::nano>(clock::now() - begin).count();
    auto cpu = static_cast<double>((cpu_time() - cpu_begin).count());
    ep.close();
    if (stopped) {
      complain("interrupted");
      return exit_code::usage;
    }
    if (!complete)
      return fail(
          {errc::request_timeout,
           fmt::format("{} subscribers: not everything arrived within {} seconds after the last "
                       "message",
                       subscribers, options_.timeout_s)});
    return account(consumers, wall, cpu, into);
  }

  // Until the time to publish is over; true if a stop came first.
  bool watch(const std::deque<consuming_thread>& consumers) {
    auto end = *deadline_after(options_.duration_s);
    while (clock::now() < end) {
      auto next = std::min(end, clock::now() + std::chrono::seconds{1});
      if (wait_readable(-1, stop_, next) == wake::stopped)
        return true;
      std::uint64_t visited = 0;
      for (const auto& x : consumers)
        visited += x.visited();
      if (progress_.due(clock::now()))
        progress_.show(fmt::format("{} subscribers: {} deliveries", consumers.size(), visited));
    }
    return false;
  }

  bool wait_for_all(finish_line& consumed, std::size_t subscribers) const {
    auto limit = deadline_after(options_.timeout_s);
    while (consumed.arrived() < subscribers)
      if (wait_readable(consumed.fd(), limit) == wake::timeout)
        return false;
    return true;
  }

  exit_code account(const std::deque<consuming_thread>& consumers, double wall_ns, double cpu_ns,
                    fanout_series& into) const {
    sequence_result sum;
    for (const auto& x : consumers)
      sum += x.result();
    into.sequence += sum;
    auto deliveries = static_cast<double>(sum.delivered);
    into.deliveries.push_back(deliveries / wall_ns * 1e9);
    into.message_ns.push_back(wall_ns / deliveries * static_cast<double>(consumers.size()));
    into.cpu_ns.push_back(cpu_ns / deliveries);
    if (sum.perfect())
      return exit_code::ok;
    complain(fmt::format("{} subscribers: of {} deliveries {} are missing, {} came twice, {} out "
                         "of order",
                         consumers.size(), sum.published, sum.missing, sum.duplicated,
                         sum.reordered));
    return exit_code::loss;
  }

  static double median(const std::vector<double>& x) { return rate_statistics::of(x).median; }

  // What each subscriber beyond those of the first row adds to the time of a message.
  std::optional<double> extra_ns(std::size_t n) const {
    auto more = options_.subscribers[n] - options_.subscribers[0];
    if (options_.subscribers[n] <= options_.subscribers[0])
      return std::nullopt;
    return (median(series_[n].message_ns) - median(series_[0].message_ns)) /
           static_cast<double>(more);
  }

  void print() const {
    fmt::print("{:>11} {:>13} {:>13} {:>13} {:>10} {:>12} {:>12} {:>8}\n", "subscribers",
               "deliveries/s", "min", "max", "ns/message", "ns per extra", "CPU ns each",
               "dropped");
    for (std::size_t n = 0; n < series_.size(); ++n) {
      const auto& x = series_[n];
      auto rate = rate_statistics::of(x.deliveries);
      auto extra = extra_ns(n);
      fmt::print("{:>11} {:>13.0f} {:>13.0f} {:>13.0f} {:>10.1f} {:>12} {:>12.1f} {:>8}\n",
                 options_.subscribers[n], rate.median, rate.min, rate.max, median(x.message_ns),
                 extra ? fmt::format("{:.1f}", *extra) : "-", median(x.cpu_ns), x.sequence.missing);
    }
  }

  json_object params() const {
    json_object result;
    result
        .add("subscribers",
             std::vector<double>{options_.subscribers.begin(), options_.subscribers.end()})
        .add("messages", options_.messages == message_kind::fresh ? "fresh" : "repeated")
        .add("payload_bytes", options_.payload_bytes)
        .add("duration_s", options_.duration_s)
        .add("runs", options_.runs);
    return result;
  }

  std::vector<json_object> results() const {
    std::vector<json_object> list;
    for (std::size_t n = 0; n < series_.size(); ++n) {
      const auto& x = series_[n];
      json_object labels;
      labels.add("subscribers", options_.subscribers[n]);
      auto result = describe(measurement{labels, options_.payload_bytes,
                                         rate_statistics::of(x.deliveries), x.sequence});
      result.add("ns_per_message", describe(rate_statistics::of(x.message_ns)))
          .add("cpu_ns_per_delivery", describe(rate_statistics::of(x.cpu_ns)));
      if (auto extra = extra_ns(n))
        result.add("ns_per_extra_subscriber", *extra);
      list.push_back(std::move(result));
    }
    return list;
  }

  static constexpr std::size_t batch_messages = 4096;

  const fanout_options& options_;
  const stop_signal& stop_;
  payloads contents_;
  std::vector<fanout_series> series_;
  progress progress_;
};

exit_code run_fanout(const fanout_options& options) {
  stop_signal stop;
  return fanout_bench{options, stop}.run();
}

constexpr const char* fanout_examples = R"(Examples:
  pubsub bench fanout
      one publishing thread to 1, 2, 8 and 64 subscribers in this process, a thread each
  pubsub bench fanout --messages repeated --subscribers 1,8 --json fanout.json
      one shared message over and over
Figures count deliveries at all subscribers. "ns per extra" is what each subscriber beyond those of
the first row adds to the time from one message to the next. Every delivery is checked: status 3
if one is lost, comes twice or out of order. A sample is the mean of a run.)";

} // namespace

} // namespace bench

void add_bench_fanout(CLI::App& app, exit_code& outcome) {
  using bench::message_kind;
  const std::map<std::string, message_kind> kinds{{"fresh", message_kind::fresh},
                                                  {"repeated", message_kind::repeated}};
  auto options = std::make_shared<bench::fanout_options>();
  auto command = app.add_subcommand("fanout", "Throughput from one publisher to many subscribers");
  command->add_option("--subscribers", options->subscribers, "Numbers of subscribers to measure")
      ->delimiter(',')
      ->check(CLI::Range(1U, 4096U))
      ->capture_default_str();
  command
      ->add_option("--messages", options->messages,
                   "fresh (numbered, the default) or repeated (one shared message)")
      ->transform(CLI::CheckedTransformer(kinds).description("{fresh,repeated}"))
      ->type_name("KIND");
  command->add_option("--payload", options->payload_bytes, "Bytes of text in a message")
      ->check(CLI::Range(0U, 1U << 24))
      ->capture_default_str();
  command->add_option("--duration", options->duration_s, "Seconds to publish in a run")
      ->check(CLI::Range(0.01, 1e6))
      ->capture_default_str();
  command->add_option("--runs", options->runs, "Runs with each number")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  command->add_option("--timeout", options->timeout_s, "Seconds to wait at the end for the rest")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--json", options->json_file, "Write all figures to FILE")->type_name("FILE");
  command->footer(bench::fanout_examples);
  command->callback([options, &outcome] { outcome = bench::run_fanout(*options); });
}

} // namespace pubsub::tool
