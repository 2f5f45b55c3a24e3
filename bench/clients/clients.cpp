// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "kit/child_report.hpp"
#include "kit/process_usage.hpp"
#include "kit/program_run.hpp"
#include "kit/report.hpp"
#include "support/find_program.hpp"
#include "support/tcp.hpp"
#include "terminal.hpp"

#include <memory>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include <pubsub/endpoint.hpp>

namespace pubsub::tool {

namespace bench {

namespace {

constexpr double join_limit_s = 120;
constexpr const char* bench_topic = "bench/all";
constexpr unsigned messages_after_first = 5;

struct clients_options {
  std::vector<std::size_t> clients{1000, 5000, 10'000};
  unsigned rounds = 3;
  std::string peers_dir;
  std::string json_file;
};

/// What one run has shown of a server.
struct clients_sample {
  double join_s = 0;       // from the first connection until all subscriptions are in force
  double processor_s = 0;  // of the server, meanwhile
  double client_bytes = 0; // that the server has grown by, for each client
  double first_s = 0;      // from the publishing of the first message until the last client has it
  double again_s = 0;      // the same of those that follow
};

struct clients_row {
  std::string who;
  std::size_t clients = 0;
  std::vector<clients_sample> samples;
  std::string note; // why there are none

  double median(double clients_sample::*which) const {
    std::vector<double> all;
    for (const auto& each : samples)
      all.push_back(each.*which);
    return rate_statistics::of(std::move(all)).median;
  }
};

struct failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A relay of ours or a NATS server, which has nothing to do yet.
struct server {
  child_process process;
  int port = 0;
};

class clients_bench {
public:
  clients_bench(const clients_options& options, const stop_signal& stop)
      : options_(options), stop_(stop), folder_(find_peers(options.peers_dir)) {
    for (const auto n : options.clients)
      for (const auto* who : {"libpubsub", "NATS"})
        rows_.push_back({who, n, {}, {}});
  }

  exit_code run() {
    for (unsigned round = 1; round <= options_.rounds; ++round)
      for (auto& each : rows_) {
        if (each.note.empty())
          measure(each, round);
        if (stop_.requested()) {
          complain("interrupted");
          return exit_code::usage;
        }
      }
    print();
    const auto saved = save_report(options_.json_file, "clients", params(), describe());
    const bool all_of_ours = std::ranges::all_of(
        rows_, [](const auto& each) { return each.who == "NATS" || each.note.empty(); });
    return saved != exit_code::ok ? saved : all_of_ours ? exit_code::ok : exit_code::connect;
  }

private:
  void measure(clients_row& row, unsigned round) {
    try {
      row.samples.push_back(row.who == "NATS" ? measure_nats(row.clients)
                                              : measure_relay(row.clients));
    } catch (const std::exception& problem) {
      row.samples.clear();
      row.note = problem.what();
    }
    if (stderr_is_terminal())
      fmt::print(stderr, "round {}/{}: {} clients of {}: {}\n", round, options_.rounds, row.clients,
                 row.who,
                 row.note.empty() ? fmt::format("joined in {:.3f} s", row.samples.back().join_s)
                                  : row.note);
  }

  clients_sample measure_relay(std::size_t clients) {
    child_process relay{"the relay", {"clients-part"}};
    const auto told = expect(relay, "port", start_limit_s);
    const auto port = std::stoi(told.rest);
    server here{std::move(relay), port};
    endpoint publisher;
    if (const auto done = publisher.peer(fmt::format("tcp://127.0.0.1:{}", port)); !done)
      throw failed(done.error().message());
    return measure_joined(here, clients, {}, [&] {
      if (!publisher.wait_for_subscribers(bench_topic, clients, std::chrono::seconds{30}))
        throw failed("the publisher does not hear of all subscribers");
      const auto begin = clock::now();
      if (publisher.publish(bench_topic, data{std::uint64_t{1}}) != publish_result::taken)
        throw failed("nobody wants the message");
      return begin;
    });
  }

  clients_sample measure_nats(std::size_t clients) {
    const auto program = ::bench::find_program("nats-server");
    if (program.empty())
      throw failed("not installed: nats-server");
    const auto port = ::bench::tcp_listener{}.port(); // free again
    server here{child_process{"nats-server",
                              program,
                              {"-a", "127.0.0.1", "-p", std::to_string(port), "-l", "/dev/null"}},
                port};
    auto publisher = connect_to(here);
    const auto say = [&](std::string_view text) { publisher.write_all(text.data(), text.size()); };
    say("CONNECT {\"verbose\":false}\r\n");
    return measure_joined(here, clients, {"--nats"}, [&] {
      const auto begin = clock::now();
      say("PUB bench.all 8\r\n12345678\r\n");
      return begin;
    });
  }

  /// A server that has just been started may not listen yet.
  ::bench::tcp_socket connect_to(server& x) {
    for (const auto limit = deadline_after(10.0);;) {
      try {
        return ::bench::tcp_socket::connect(x.port);
      } catch (const std::system_error&) {
        if (clock::now() >= *limit || x.process.finished())
          throw failed("nats-server does not start: " + x.process.wait(deadline_after(1.0)));
        (void)wait_readable(x.process.fd(), stop_, deadline_after(0.02));
        (void)x.process.read_line();
      }
    }
  }

  template <class Publish>
  clients_sample measure_joined(server& x, std::size_t clients, std::vector<std::string> arguments,
                                Publish publish) {
    const auto pid = x.process.pid();
    const auto bytes = resident_bytes_of(pid);
    const auto processor = cpu_seconds_of(pid);
    arguments.insert(arguments.end(),
                     {"--port", std::to_string(x.port), "--clients", std::to_string(clients)});
    child_process swarm{"the clients", (folder_ / "swarm").string(), arguments};
    const auto joined = values_of(expect(swarm, "joined", join_limit_s).rest);
    clients_sample result;
    result.join_s = joined.at("seconds");
    result.processor_s = cpu_seconds_of(pid) - processor;
    result.client_bytes = (resident_bytes_of(pid) - bytes) / static_cast<double>(clients);
    const auto time_one = [&] {
      const auto begin = publish();
      const auto reached = values_of(expect(swarm, "reached", join_limit_s).rest);
      const std::chrono::nanoseconds end{static_cast<std::int64_t>(reached.at("at_ns"))};
      return std::chrono::duration<double>(end - begin.time_since_epoch()).count();
    };
    result.first_s = time_one();
    std::vector<double> others;
    for (unsigned n = 0; n < messages_after_first; ++n)
      others.push_back(time_one());
    result.again_s = rate_statistics::of(std::move(others)).median;
    return result;
  }

  child_report expect(child_process& child, std::string_view word, double limit_s) {
    auto told = wait_for_report(child, word, stop_, deadline_after(limit_s));
    if (told.what != child_report::kind::line)
      throw failed(explain(child, told));
    return told;
  }

  void print() const {
    fmt::print("{:>8}  {:<10} {:>9} {:>12} {:>8} {:>15} {:>9}\n", "clients", "server", "joined s",
               "processor s", "kB each", "first to all ms", "again ms");
    for (const auto& each : rows_)
      if (each.note.empty())
        fmt::print("{:>8}  {:<10} {:>9.3f} {:>12.2f} {:>8.1f} {:>15.1f} {:>9.1f}\n", each.clients,
                   each.who, each.median(&clients_sample::join_s),
                   each.median(&clients_sample::processor_s),
                   each.median(&clients_sample::client_bytes) / 1e3,
                   each.median(&clients_sample::first_s) * 1e3,
                   each.median(&clients_sample::again_s) * 1e3);
      else
        fmt::print("{:>8}  {:<10} {}\n", each.clients, each.who, each.note);
  }

  json_object params() const {
    json_object result;
    result.add("rounds", options_.rounds);
    return result;
  }

  std::vector<json_object> describe() const {
    std::vector<json_object> result;
    for (const auto& each : rows_) {
      auto& row = result.emplace_back();
      row.add("server", each.who).add("clients", each.clients);
      if (!each.note.empty()) {
        row.add("note", each.note);
        continue;
      }
      row.add("joined_s", each.median(&clients_sample::join_s))
          .add("processor_s", each.median(&clients_sample::processor_s))
          .add("bytes_per_client", each.median(&clients_sample::client_bytes))
          .add("first_to_all_s", each.median(&clients_sample::first_s))
          .add("again_to_all_s", each.median(&clients_sample::again_s));
    }
    return result;
  }

  const clients_options& options_;
  const stop_signal& stop_;
  const std::filesystem::path folder_;
  std::vector<clients_row> rows_;
};

exit_code run_clients(const clients_options& options) {
  raise_limit_of_files();
  const stop_signal stop;
  return clients_bench{options, stop}.run();
}

exit_code serve_clients() {
  endpoint_options options;
  options.io_threads = std::max(1U, std::thread::hardware_concurrency());
  endpoint relay{options};
  const auto port = relay.listen("tcp://127.0.0.1:0");
  if (!port)
    return fail(port.error());
  report_line("port", std::to_string(*port));
  wait_for_parent();
  return exit_code::ok;
}

constexpr const char* clients_examples = R"(Examples:
  pubsub bench clients
      what 1,000, 5,000 and 10,000 clients cost the relay they are linked with, beside a NATS server
  pubsub bench clients --clients 200 --rounds 1 --json clients.json
The clients of both are one process each time, without threads, that speaks the wire itself: what is
measured is the server, which has a thread for each processor. Each client has one subscription, in
force when it counts as joined; then a message goes to all, and others on the same topic follow one by
one. Medians, measured in turns. A user must be allowed as many open files (ulimit -n).)";

} // namespace

} // namespace bench

void add_bench_clients(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::clients_options>();
  auto* const command = app.add_subcommand("clients", "What many clients cost their relay");
  command->add_option("--clients", options->clients, "Numbers of clients")
      ->delimiter(',')
      ->check(CLI::Range(1U, 16'000U))
      ->capture_default_str();
  command->add_option("--rounds", options->rounds, "Measurements of each")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  command
      ->add_option("--peers", options->peers_dir,
                   "Where the programs of bench/ are [beside this one]")
      ->type_name("FOLDER");
  command->add_option("--json", options->json_file, "Write all figures to FILE")->type_name("FILE");
  command->footer(bench::clients_examples);
  command->callback([options, &outcome] { outcome = bench::run_clients(*options); });
}

void add_bench_clients_part(CLI::App& app, exit_code& outcome) {
  auto* const command = app.add_subcommand("clients-part", "The relay (started by clients)");
  command->group(""); // not shown
  command->callback([&outcome] { outcome = bench::serve_clients(); });
}

} // namespace pubsub::tool
