// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "kit/child_report.hpp"
#include "kit/link_address.hpp"
#include "kit/progress.hpp"
#include "kit/report.hpp"
#include "kit/scratch_folder.hpp"
#include "stream/bare_eventfd_trip.hpp"
#include "stream/latency_run.hpp"

#include <deque>
#include <memory>

#include <fmt/format.h>

namespace pubsub::tool {

namespace bench {

namespace {

constexpr double latency_setup_limit_s = 15;

struct latency_options {
  std::vector<double> rates{0, 1000};
  std::size_t payload_bytes = 100;
  double duration_s = 1;
  unsigned runs = 5;
  double timeout_s = 10;
  std::string transport = "tcp";
  bool local = false;
  bool limit = false;
  std::string json_file;
};

// One way there and back, and what it took at each rate.
struct contender {
  std::string name;
  std::optional<child_process> child; // who answers, if not this process; stopped while others run
  std::unique_ptr<round_trip> trip;
  std::vector<latency_series> series; // one a rate
};

class latency_bench {
public:
  latency_bench(const latency_options& options, const stop_signal& stop)
      : options_(options), stop_(stop) {}

  exit_code run() {
    auto outcome = set_up();
    if (outcome == exit_code::ok)
      outcome = measure();
    if (outcome != exit_code::ok && outcome != exit_code::loss)
      return outcome;
    print();
    auto saved = save_report(options_.json_file, "latency", params(), results());
    return saved != exit_code::ok ? saved : outcome;
  }

private:
  exit_code set_up() {
    auto failed = set_up_endpoint();
    if (failed == exit_code::ok && options_.limit && within_host())
      failed = set_up_eventfds();
    if (failed == exit_code::ok && options_.limit)
      failed = set_up_bare_tcp();
    return failed;
  }

  exit_code set_up_endpoint() {
    auto& ours = add("libpubsub");
    if (options_.local) {
      echo_.emplace(ep_);
    } else {
      const auto place = listening_address(options_.transport, folder_.file("echo"));
      ours.child.emplace("echo", std::vector<std::string>{"latency-part", "endpoint", place});
      std::string address;
      if (auto failed = hear(*ours.child, "at", address); failed != exit_code::ok)
        return failed;
      if (auto peered = ep_.peer(address); !peered)
        return fail(peered.error());
    }
    ours.trip = make_endpoint_trip(ep_, options_.payload_bytes);
    if (!ep_.wait_for_subscribers(request_topic, 1,
                                  left_until(deadline_after(latency_setup_limit_s))))
      return fail({errc::request_timeout, "nobody subscribed to the requests in 15 seconds"});
    std::string nothing;
    return options_.local ? exit_code::ok : hear(*ours.child, "ready", nothing);
  }

  exit_code set_up_eventfds() {
    auto& limit = add("bare eventfd");
    shared_.emplace(numbered_bytes(options_.payload_bytes));
    std::vector<std::string> arguments{"latency-part", "eventfd"};
    for (auto number : shared_->numbers())
      arguments.push_back(std::to_string(number));
    limit.child.emplace("echo", arguments);
    shared_->keep_to_this_process();
    limit.trip = make_eventfd_trip(*shared_);
    std::string nothing;
    return hear(*limit.child, "ready", nothing);
  }

  exit_code set_up_bare_tcp() {
    auto& limit = add("bare tcp");
    limit.child.emplace("echo", std::vector<std::string>{"latency-part", "bare"});
    std::string port;
    if (auto failed = hear(*limit.child, "port", port); failed != exit_code::ok)
      return failed;
    limit.trip = make_bare_trip(static_cast<std::uint16_t>(std::stoi(port)), options_.payload_bytes,
                                waiting::asleep);
    return exit_code::ok;
  }

  contender& add(std::string name) {
    return contenders_.emplace_back(
        contender{std::move(name), {}, {}, std::vector<latency_series>(options_.rates.size())});
  }

  bool within_host() const { return !options_.local && options_.transport == "unix"; }

  exit_code hear(child_process& child, const char* word, std::string& rest) {
    auto said = wait_for_report(child, word, stop_, deadline_after(latency_setup_limit_s));
    rest = said.rest;
    return said.what == child_report::kind::line ? exit_code::ok : fail_child(child, said);
  }

  // Only the one that is measured may use the processors.
  void let_answer(const contender& measured) {
    for (auto& x : contenders_)
      if (x.child)
        &x == &measured ? x.child->resume() : x.child->suspend();
  }

  // A B A B ...: what else the machine does meets both alike.
  exit_code measure() {
    for (auto& x : contenders_) {
      let_answer(x);
      for (int i = 0; i < 100; ++i) // connections and caches get warm
        if (!x.trip->exchange(timeout()))
          return give_up(x);
    }
    for (std::size_t rate = 0; rate < options_.rates.size(); ++rate)
      for (unsigned i = 0; i < options_.runs; ++i)
        for (auto& x : contenders_)
          if (auto failed = run_once(x, rate, i); failed != exit_code::ok)
            return failed;
    for (const auto& x : contenders_)
      if (!x.trip->result().perfect()) {
        complain(fmt::format("{}: answers were lost, came twice or out of order", x.name));
        return exit_code::loss;
      }
    return exit_code::ok;
  }

  exit_code run_once(contender& x, std::size_t rate, unsigned run) {
    pace how{options_.rates[rate],
             std::chrono::nanoseconds{static_cast<std::int64_t>(options_.duration_s * 1e9)},
             timeout()};
    let_answer(x);
    auto before = x.trip->result();
    auto tick = [&](clock::time_point now) {
      if (progress_.due(now))
        progress_.show(fmt::format("{}, {}/s, run {} of {}: {} round trips", x.name, how.rate_per_s,
                                   run + 1, options_.runs, x.trip->sent() - before.published));
    };
    auto answered = run_round_trips(*x.trip, how, stop_, x.series[rate], tick);
    auto after = x.trip->result();
    auto& sum = x.series[rate].sequence;
    sum.published += after.published - before.published;
    sum.delivered += after.delivered - before.delivered;
    sum.missing = sum.published - sum.delivered;
    sum.duplicated += after.duplicated - before.duplicated;
    sum.reordered += after.reordered - before.reordered;
    if (!answered)
      return give_up(x);
    if (!stop_.requested())
      return exit_code::ok;
    complain("interrupted");
    return exit_code::usage;
  }

  exit_code give_up(contender& x) {
    if (x.child) { // its end is the better explanation
      auto last = next_report(*x.child, stop_, deadline_after(0.2));
      if (last.what != child_report::kind::timeout)
        return fail_child(*x.child, last);
    }
    return fail({errc::request_timeout, fmt::format("{}: message {} was not answered in {} seconds",
                                                    x.name, x.trip->sent(), options_.timeout_s)});
  }

  std::chrono::nanoseconds timeout() const {
    return std::chrono::nanoseconds{static_cast<std::int64_t>(options_.timeout_s * 1e9)};
  }

  void print() const {
    fmt::print("{:>8} {:<12} {:>11} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  us\n", "rate/s", "over",
               "round trips", "p50", "p90", "p99", "p99.9", "p99.99", "max");
    for (std::size_t rate = 0; rate < options_.rates.size(); ++rate)
      for (const auto& x : contenders_)
        print_row(options_.rates[rate], x.name, x.series[rate]);
    for (std::size_t rate = 0; rate < options_.rates.size(); ++rate)
      for (std::size_t limit = 1; limit < contenders_.size(); ++limit)
        fmt::print("{}libpubsub / {}: p50 {:.2f}, p99 {:.2f} (medians of {} runs)\n",
                   pace_text(options_.rates[rate]), contenders_[limit].name,
                   ratio(rate, contenders_[limit], &latency_series::p50),
                   ratio(rate, contenders_[limit], &latency_series::p99), options_.runs);
  }

  static void print_row(double rate, const std::string& name, const latency_series& x) {
    auto us = [&](double part) { return static_cast<double>(x.all.percentile(part)) / 1e3; };
    fmt::print("{:>8} {:<12} {:>11} {:>9.1f} {:>9.1f} {:>9.1f} {:>9.1f} {:>9.1f} {:>9.1f}\n",
               rate > 0 ? fmt::format("{}", rate) : "unpaced", name, x.all.count(), us(0.5),
               us(0.9), us(0.99), us(0.999), us(0.9999), us(1));
    if (x.all.count() < x.scheduled - x.scheduled / 50)
      complain(fmt::format("{}: {} messages/s were asked for, {:.0f} possible", name, rate,
                           rate_statistics::of(x.rates).median));
  }

  static std::string pace_text(double rate) {
    return rate > 0 ? fmt::format("at {}/s, ", rate) : "unpaced, ";
  }

  // Of our times to those of a limit.
  double ratio(std::size_t rate, const contender& limit,
               std::vector<double> latency_series::*part) const {
    auto median = [&](const contender& x) {
      return rate_statistics::of(x.series[rate].*part).median;
    };
    return median(contenders_.front()) / median(limit);
  }

  json_object params() const {
    json_object result;
    result.add("rates_per_s", options_.rates)
        .add("payload_bytes", options_.payload_bytes)
        .add("duration_s", options_.duration_s)
        .add("runs", options_.runs)
        .add("over", options_.local ? "one process" : "one peering")
        .add("transport", options_.local ? "" : options_.transport);
    return result;
  }

  std::vector<json_object> results() const {
    std::vector<json_object> list;
    for (std::size_t rate = 0; rate < options_.rates.size(); ++rate)
      for (const auto& x : contenders_) {
        const auto& series = x.series[rate];
        json_object labels;
        labels.add("over", x.name).add("rate_per_s", options_.rates[rate]);
        auto result = describe(measurement{labels, options_.payload_bytes,
                                           rate_statistics::of(series.rates), series.sequence});
        result.add("latency_ns", describe_percentiles(series.all))
            .add("p50_ns", describe(rate_statistics::of(series.p50)))
            .add("p99_ns", describe(rate_statistics::of(series.p99)));
        for (std::size_t i = 1; i < contenders_.size() && &x == &contenders_.front(); ++i)
          result.add(i + 1 == contenders_.size() ? "ratio_to_bare_tcp" : "ratio_to_bare_eventfd",
                     json_object{}
                         .add("p50", ratio(rate, contenders_[i], &latency_series::p50))
                         .add("p99", ratio(rate, contenders_[i], &latency_series::p99)));
        list.push_back(std::move(result));
      }
    return list;
  }

  const latency_options& options_;
  const stop_signal& stop_;
  progress progress_;
  const scratch_folder folder_; // of sockets
  endpoint ep_;
  std::optional<echo_thread> echo_;
  std::optional<eventfd_pair> shared_;
  std::deque<contender> contenders_;
};

exit_code run_latency(const latency_options& options) {
  stop_signal stop;
  return latency_bench{options, stop}.run();
}

// The other process: answers until its stdin is closed.
exit_code echo_bare() {
  echo_socket bare{waiting::asleep};
  report_line("port", std::to_string(bare.port()));
  wait_for_parent();
  return exit_code::ok;
}

exit_code echo_eventfds(const std::vector<std::string>& numbers) {
  std::vector<int> descriptors;
  for (const auto& x : numbers)
    descriptors.push_back(std::stoi(x));
  eventfd_pair shared{descriptors};
  echo_events echo{shared};
  report_line("ready");
  wait_for_parent();
  return exit_code::ok;
}

exit_code echo_endpoint(const std::string& address) {
  endpoint ep;
  auto place = listen_for_peers(ep, address);
  if (!place)
    return fail(place.error());
  echo_thread echo{ep};
  report_line("at", *place);
  if (ep.wait_for_subscribers(reply_topic, 1, left_until(deadline_after(latency_setup_limit_s))))
    report_line("ready");
  wait_for_parent();
  return exit_code::ok;
}

constexpr const char* latency_examples = R"(Examples:
  pubsub bench latency --limit
      round trips between two processes, as fast as answers come and at 1000 a second; beside them,
      in turns, those of a bare blocking TCP socket, and the ratio
  pubsub bench latency --transport unix --limit
      the same over a socket of the host, beside a bare eventfd and shared memory, and bare TCP
  pubsub bench latency --local --rate 0
      between two threads of one process
  pubsub bench latency --rate 100,1000,5000 --duration 5 --runs 7 --json latency.json
With a rate, times count from the moment a message was to be sent, so that what waits for a late
answer is late itself. Percentiles are over all runs and exact to 1 %.)";

} // namespace

} // namespace bench

void add_bench_latency(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::latency_options>();
  auto command = app.add_subcommand("latency", "Round-trip times over one peering");
  command->add_option("--rate", options->rates, "Messages a second to measure at; 0: unpaced")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command->add_option("--payload", options->payload_bytes, "Bytes of text in a message")
      ->check(CLI::Range(0U, 1U << 20))
      ->capture_default_str();
  command->add_option("--duration", options->duration_s, "Seconds of a run")
      ->check(CLI::Range(0.01, 1e6))
      ->capture_default_str();
  command->add_option("--runs", options->runs, "Runs at each rate")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  command->add_option("--timeout", options->timeout_s, "Seconds to wait for an answer")
      ->check(CLI::Range(0.001, 3600.0))
      ->capture_default_str();
  command->add_flag("--local", options->local, "Between two threads of one process");
  bench::add_transport_option(*command, options->transport);
  command->add_flag("--limit", options->limit,
                    "Measure a bare TCP ping-pong too, in turns; with unix also one by eventfd");
  command->add_option("--json", options->json_file, "Write all figures to FILE")->type_name("FILE");
  command->footer(bench::latency_examples);
  command->callback([options, &outcome] { outcome = bench::run_latency(*options); });
}

void add_bench_latency_part(CLI::App& app, exit_code& outcome) {
  struct part_options {
    std::string over;
    std::vector<std::string> where;
  };
  auto options = std::make_shared<part_options>();
  auto command = app.add_subcommand("latency-part", "The answering process (started by latency)");
  command->group(""); // not shown
  command->add_option("over", options->over)
      ->required()
      ->check(CLI::IsMember({"endpoint", "bare", "eventfd"}));
  command->add_option("where", options->where, "An address, or the numbers of descriptors");
  command->callback([options, &outcome] {
    if (options->over == "bare")
      outcome = bench::echo_bare();
    else if (options->over == "eventfd")
      outcome = bench::echo_eventfds(options->where);
    else
      outcome = bench::echo_endpoint(options->where.empty() ? "" : options->where.front());
  });
}

} // namespace pubsub::tool
