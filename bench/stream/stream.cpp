// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "connection.hpp"
#include "kit/process_usage.hpp"
#include "kit/report.hpp"
#include "stop_signal.hpp"
#include "stream/stream_ends.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <deque>
#include <memory>

#include <fmt/format.h>

namespace pubsub::tool {

namespace bench {

namespace {

enum class stream_mode : unsigned char { both, pub, sub, relay };

struct stream_options {
  stream_mode mode = stream_mode::both;
  message_kind messages = message_kind::fresh;
  connection_options connection;
  std::size_t payload_bytes = 100;
  std::string input;
  std::size_t publishers = 1;
  std::size_t subscribers = 1;
  std::size_t batch_messages = 4096;
  std::size_t queue_messages = queue_options{}.capacity_messages;
  double duration_s = 10;
  double timeout_s = 30;
  std::string json_file;
};

// One benchmark: its threads, and the loop that prints a line a second.
class stream_bench {
public:
  stream_bench(endpoint& ep, const payloads& contents, const stream_options& options,
               const stop_signal& stop)
      : ep_(ep), contents_(contents), options_(options), stop_(stop) {}

  exit_code run() {
    cpu_at_start_ = cpu_time();
    if (options_.mode == stream_mode::both || options_.mode == stream_mode::sub)
      for (std::size_t i = 0; i < options_.subscribers; ++i)
        consumers_.emplace_back(ep_, options_.messages, options_.publishers,
                                queue_options{.capacity_messages = options_.queue_messages},
                                options_.batch_messages, consumed_);
    if (options_.mode == stream_mode::pub)
      if (!ep_.wait_for_subscribers(stream_topic, 1,
                                    left_until(deadline_after(options_.timeout_s))))
        return fail({errc::request_timeout,
                     fmt::format("no subscriber came in {} seconds", options_.timeout_s)});
    if (options_.mode == stream_mode::both || options_.mode == stream_mode::pub)
      for (std::size_t i = 0; i < options_.publishers; ++i)
        publishers_.emplace_back(ep_, contents_, options_.messages, i, published_);
    if (auto failed = run_threads(); failed != exit_code::ok)
      return failed;
    return summarize();
  }

private:
  std::uint64_t total() const {
    std::uint64_t sum = 0;
    if (options_.mode == stream_mode::relay)
      return ep_.counters().received;
    if (options_.mode == stream_mode::pub)
      for (const auto& x : publishers_)
        sum += x.published();
    else
      for (const auto& x : consumers_)
        sum += x.visited();
    return sum;
  }

  bool all_arrived() {
    if (options_.mode == stream_mode::relay)
      return false; // only a stop ends it
    if (options_.mode == stream_mode::pub)
      return published_.arrived() == options_.publishers;
    return consumed_.arrived() == consumers_.size();
  }

  int finish_fd() const {
    return options_.mode == stream_mode::pub ? published_.fd() : consumed_.fd();
  }

  // Prints a line a second until the deadline, a stop, or until all threads have finished. Without
  // a deadline the clock starts with the first message.
  void print_rates_until(const deadline& end) {
    constexpr std::chrono::seconds second{1};
    bool started = end.has_value();
    meter_.start(clock::now());
    auto next_line = meter_.start_time() + second;
    while (!all_arrived()) {
      auto woken = wait_readable(finish_fd(), stop_, end ? std::min(*end, next_line) : next_line);
      auto now = clock::now();
      if (woken == wake::stopped || (end && now >= *end))
        return;
      if (now < next_line)
        continue;
      next_line += second;
      if (started)
        print_rate(now);
      else if (auto seen = total(); seen > 0) {
        started = true;
        meter_.start(now, seen);
      }
    }
  }

  void print_rate(clock::time_point now) {
    if (auto rate = meter_.update(total(), now)) {
      fmt::print("{:.0f} msgs/s\n", *rate);
      std::fflush(stdout);
    }
  }

  exit_code run_threads() {
    bool publishing = !publishers_.empty();
    print_rates_until(publishing ? deadline_after(options_.duration_s) : std::nullopt);
    for (auto& x : publishers_)
      x.stop();
    if (!publishing)
      for (auto& x : consumers_)
        x.close(); // finished already, unless a stop came
    auto limit = deadline_after(options_.timeout_s);
    while (options_.mode != stream_mode::relay && !all_arrived()) {
      // A stop does not shorten this wait: it has a limit anyway.
      if (wait_readable(finish_fd(), limit) != wake::timeout)
        continue;
      ep_.close();
      complain(fmt::format("not everything arrived within {} seconds after the last message",
                           options_.timeout_s));
      return exit_code::timeout;
    }
    auto now = clock::now();
    print_rate(now);
    meter_.finish(total(), now);
    return exit_code::ok;
  }

  exit_code summarize() {
    sequence_result sum;
    if (options_.mode == stream_mode::relay) {
      auto totals = ep_.counters();
      fmt::print("received {}, forwarded {}\n", totals.received, totals.forwarded);
      return exit_code::ok;
    }
    if (options_.mode == stream_mode::pub) {
      auto unsent = ep_.flush(left_until(deadline_after(options_.timeout_s)));
      sum.published = total();
      sum.delivered = sum.published - std::min<std::uint64_t>(sum.published, unsent);
      sum.missing = sum.published - sum.delivered;
      fmt::print("published {}, unsent {}\n", sum.published, unsent);
    } else {
      for (const auto& x : consumers_)
        sum += x.result();
      fmt::print("published {}, delivered {}, dropped {}, duplicated {}, reordered {}\n",
                 sum.published, sum.delivered, sum.missing, sum.duplicated, sum.reordered);
    }
    auto rate = rate_statistics::of(meter_.samples());
    fmt::print("median {:.0f} msgs/s, min {:.0f}, max {:.0f}\n", rate.median, rate.min, rate.max);
    if (auto failed = write(rate, sum); failed != exit_code::ok)
      return failed;
    return sum.perfect() ? exit_code::ok : exit_code::loss;
  }

  exit_code write(const rate_statistics& rate, const sequence_result& sequence) const {
    constexpr const char* modes[] = {"both", "pub", "sub", "relay"};
    json_object params;
    params.add("mode", modes[static_cast<int>(options_.mode)])
        .add("messages", options_.messages == message_kind::fresh ? "fresh" : "repeated")
        .add("payload_bytes", contents_.size_bytes())
        .add("publishers", options_.publishers)
        .add("subscribers", options_.subscribers)
        .add("queue_messages", options_.queue_messages)
        .add("duration_s", options_.duration_s);
    auto result = describe(measurement{{}, contents_.size_bytes(), rate, sequence});
    const auto messages = std::max<std::uint64_t>(sequence.delivered, 1);
    result.add("cpu_ns", static_cast<double>((cpu_time() - cpu_at_start_).count()) /
                             static_cast<double>(messages));
    return save_report(options_.json_file, "stream", params, {result});
  }

  endpoint& ep_;
  const payloads& contents_;
  const stream_options& options_;
  const stop_signal& stop_;
  finish_line published_;
  finish_line consumed_;
  rate_meter meter_;
  std::chrono::nanoseconds cpu_at_start_{0};
  std::deque<consuming_thread> consumers_;
  std::deque<publishing_thread> publishers_;
};

exit_code run_stream(const stream_options& options) {
  bool local = options.mode == stream_mode::both;
  if (!local && options.connection.listen.empty() && options.connection.peers.empty()) {
    complain("this mode needs at least one --listen or --peer");
    return exit_code::usage;
  }
  auto contents = options.input.empty()
                      ? expected<payloads>{payloads::synthetic(options.payload_bytes)}
                      : payloads::from_file(options.input);
  if (!contents)
    return fail(contents.error());
  stop_signal stop;
  endpoint ep{options.connection.for_endpoint()};
  stream_bench bench{ep, *contents, options, stop};
  if (auto failed = connect(ep, options.connection, peering::wait); failed != exit_code::ok)
    return failed;
  auto outcome = bench.run();
  ep.close();
  return outcome;
}

constexpr const char* stream_examples = R"(Examples:
  pubsub bench stream --mode both --duration 5
      one process: a publisher thread and a subscriber thread; prints "3495604 msgs/s" every second
  pubsub bench stream --mode both --messages repeated --subscribers 4
      one shared message to four subscribers; the figures count all deliveries
  pubsub bench stream --mode sub --listen '*:9999'                       on host A
  pubsub bench stream --mode relay --listen '*:9998' --peer A:9999       on host B
  pubsub bench stream --mode pub --peer B:9998                           on host C
      the same stream by hand across hosts; sub needs the same --publishers as pub
Ends with a summary, and status 3 if something was lost, came twice or out of order.)";

void add_stream_options(CLI::App& command, stream_options& options) {
  const std::map<std::string, stream_mode> modes{{"both", stream_mode::both},
                                                 {"pub", stream_mode::pub},
                                                 {"sub", stream_mode::sub},
                                                 {"relay", stream_mode::relay}};
  const std::map<std::string, message_kind> kinds{{"fresh", message_kind::fresh},
                                                  {"repeated", message_kind::repeated}};
  command.add_option("--mode", options.mode, "both, pub, sub or relay")
      ->transform(CLI::CheckedTransformer(modes).description("{both,pub,sub,relay}"))
      ->type_name("MODE");
  command
      .add_option("--messages", options.messages,
                  "fresh (numbered, the default) or repeated (one shared message)")
      ->transform(CLI::CheckedTransformer(kinds).description("{fresh,repeated}"))
      ->type_name("KIND");
  auto few = CLI::Range(1U, 1024U);
  command.add_option("--publishers", options.publishers, "Publishing threads")
      ->check(few)
      ->capture_default_str();
  command.add_option("--subscribers", options.subscribers, "Consuming threads")
      ->check(few)
      ->capture_default_str();
  command.add_option("--payload", options.payload_bytes, "Bytes of text in a message")
      ->check(CLI::Range(0U, 1U << 24))
      ->capture_default_str();
  command
      .add_option("--input", options.input,
                  "Send records instead: a Zeek log, or an event dump (.jsonl)")
      ->type_name("FILE");
  command
      .add_option("--batch", options.batch_messages, "Messages a consumer takes at once, at most")
      ->check(CLI::Range(1U, 1U << 20))
      ->capture_default_str();
  command
      .add_option("--queue", options.queue_messages, "Messages a consumer's queue holds, at most")
      ->check(CLI::Range(1U, 1U << 24))
      ->capture_default_str();
  command.add_option("--duration", options.duration_s, "Seconds to publish")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  command
      .add_option("--timeout", options.timeout_s,
                  "Seconds to wait for subscribers, and at the end for the rest")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--json", options.json_file, "Write all figures to FILE")->type_name("FILE");
}

} // namespace

} // namespace bench

void add_bench_stream(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::stream_options>();
  auto command =
      app.add_subcommand("stream", "Throughput of one stream, in one process or across hosts");
  add_connection_options(*command, options->connection);
  bench::add_stream_options(*command, *options);
  command->footer(bench::stream_examples);
  command->callback([options, &outcome] { outcome = bench::run_stream(*options); });
}

} // namespace pubsub::tool
