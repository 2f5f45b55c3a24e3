// Networks of very many real endpoints on this machine, beside which the simulated ones stand.
// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "kit/child_report.hpp"
#include "kit/process_usage.hpp"
#include "kit/program_run.hpp"
#include "kit/report.hpp"
#include "kit/scratch_folder.hpp"
#include "scale/topologies.hpp"
#include "terminal.hpp"

#include <iostream>
#include <map>
#include <memory>

#include <fmt/format.h>

#include <pubsub/endpoint.hpp>

namespace pubsub::tool {

namespace bench {

namespace {

constexpr double up_limit_s = 300;
constexpr double time_between_looks_s = 0.01;

struct mesh_options {
  std::vector<std::size_t> relays{100, 300, 1000};
  std::string family = "random";
  std::size_t processes = 4;
  unsigned rounds = 3;
  std::string json_file;
};

/// What coming up has taken.
struct mesh_sample {
  double up_s = 0;        // from the first connection until every relay knows all others
  double processor_s = 0; // of all processes
  double relay_bytes = 0; // of memory, for each relay
};

struct mesh_row {
  std::size_t relays = 0;
  std::vector<mesh_sample> samples;

  double median(double mesh_sample::*which) const {
    std::vector<double> all;
    for (const auto& each : samples)
      all.push_back(each.*which);
    return rate_statistics::of(std::move(all)).median;
  }
};

class mesh_bench {
public:
  mesh_bench(const mesh_options& options, const stop_signal& stop)
      : options_(options), stop_(stop) {
    for (const auto n : options.relays)
      rows_.push_back({n, {}});
  }

  exit_code run() {
    for (unsigned round = 1; round <= options_.rounds; ++round)
      for (auto& each : rows_) {
        try {
          each.samples.push_back(measure(each.relays));
        } catch (const std::exception& problem) {
          complain(problem.what());
          return exit_code::connect;
        }
        if (stderr_is_terminal())
          fmt::print(stderr, "round {}/{}: {} relays are up after {:.2f} s\n", round,
                     options_.rounds, each.relays, each.samples.back().up_s);
      }
    fmt::print("{:>7} {:>9} {:>12} {:>12}\n", "relays", "up s", "processor s", "kB each");
    for (const auto& each : rows_)
      fmt::print("{:>7} {:>9.2f} {:>12.2f} {:>12.1f}\n", each.relays,
                 each.median(&mesh_sample::up_s), each.median(&mesh_sample::processor_s),
                 each.median(&mesh_sample::relay_bytes) / 1e3);
    json_object params;
    params.add("family", options_.family)
        .add("processes", options_.processes)
        .add("rounds", options_.rounds);
    return save_report(options_.json_file, "mesh", params, describe());
  }

private:
  mesh_sample measure(std::size_t relays) {
    const scratch_folder sockets;
    std::vector<child_process> parts;
    const auto processes = std::min(options_.processes, relays);
    for (std::size_t n = 0; n < processes; ++n)
      parts.emplace_back(
          fmt::format("process {}", n + 1),
          std::vector<std::string>{"mesh-part", "--family", options_.family, "--relays",
                                   std::to_string(relays), "--first", std::to_string(n), "--step",
                                   std::to_string(processes), "--sockets", sockets.path()});
    const auto all = [&](std::string_view word) {
      const auto end = deadline_after(up_limit_s);
      for (auto& each : parts)
        if (auto told = wait_for_report(each, word, stop_, end);
            told.what != child_report::kind::line)
          throw std::runtime_error{explain(each, told)};
    };
    all("listening");
    const auto begin = clock::now();
    for (auto& each : parts)
      each.tell("connect");
    all("up");
    mesh_sample result;
    result.up_s = std::chrono::duration<double>(clock::now() - begin).count();
    for (auto& each : parts) {
      result.processor_s += cpu_seconds_of(each.pid());
      result.relay_bytes += resident_bytes_of(each.pid()) / static_cast<double>(relays);
    }
    return result;
  }

  std::vector<json_object> describe() const {
    std::vector<json_object> result;
    for (const auto& each : rows_)
      result.emplace_back()
          .add("relays", each.relays)
          .add("up_s", each.median(&mesh_sample::up_s))
          .add("processor_s", each.median(&mesh_sample::processor_s))
          .add("bytes_per_relay", each.median(&mesh_sample::relay_bytes));
    return result;
  }

  const mesh_options& options_;
  const stop_signal& stop_;
  std::vector<mesh_row> rows_;
};

// -- a process with some of the relays -----------------------------------------------------------

struct mesh_part_options {
  std::string family;
  std::size_t relays = 0;
  std::size_t first = 0; ///< its relays: this one, and so on in steps
  std::size_t step = 1;
  std::string sockets; ///< the folder where they are
};

exit_code serve_mesh(const mesh_part_options& options) {
  const auto address = [&](std::size_t relay) {
    return fmt::format("unix://{}/{}", options.sockets, relay);
  };
  const auto here = [&](std::size_t relay) { return relay % options.step == options.first; };
  endpoint_options relaying;
  relaying.forwarding = forwarding::on;
  std::map<std::size_t, endpoint> relays;
  for (auto n = options.first; n < options.relays; n += options.step)
    if (auto ok = relays.try_emplace(n, relaying).first->second.listen(address(n)); !ok)
      return fail(ok.error());
  report_line("listening", "");
  std::string line;
  std::getline(std::cin, line);
  for (const auto& [x, y] : scale::make_topology(options.family, options.relays, 1).wires)
    if (here(x))
      if (auto ok = relays.at(x).peer_async(address(y)); !ok)
        return fail(ok.error());
  const stop_signal stop;
  const auto end = deadline_after(up_limit_s);
  for (const auto& [n, relay] : relays)
    while (relay.nodes().size() + 1 < options.relays) // of which no event tells
      if (clock::now() >= *end ||
          wait_readable(-1, stop, deadline_after(time_between_looks_s)) == wake::stopped) {
        complain(fmt::format("relay {} knows {} of {} others", n, relay.nodes().size(),
                             options.relays - 1));
        return exit_code::timeout;
      }
  report_line("up", "");
  wait_for_parent();
  return exit_code::ok;
}

constexpr const char* mesh_examples = R"(Examples:
  pubsub bench mesh
      100, 300 and 1,000 relays that connect in one moment, until each knows all others
  pubsub bench mesh --relays 200 --family hubs --rounds 1 --json mesh.json
The relays are real endpoints, linked over sockets of this machine, in a few processes. Medians. Larger
networks are simulated: pubsub-scale. A user must be allowed as many open files (ulimit -n).)";

} // namespace

} // namespace bench

void add_bench_mesh(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::mesh_options>();
  auto* const command = app.add_subcommand("mesh", "How long very many relays take to come up");
  command->add_option("--relays", options->relays, "Numbers of relays")
      ->delimiter(',')
      ->check(CLI::Range(3U, 5000U))
      ->capture_default_str();
  command->add_option("--family", options->family, "random, hubs, fat-tree, rings")
      ->check(CLI::IsMember(scale::families()))
      ->capture_default_str();
  command->add_option("--processes", options->processes, "Among which they are divided")
      ->check(CLI::Range(1U, 64U))
      ->capture_default_str();
  command->add_option("--rounds", options->rounds, "Measurements of each")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  command->add_option("--json", options->json_file, "Write all figures to FILE")->type_name("FILE");
  command->footer(bench::mesh_examples);
  command->callback([options, &outcome] {
    bench::raise_limit_of_files();
    const stop_signal stop;
    outcome = bench::mesh_bench{*options, stop}.run();
  });
}

void add_bench_mesh_part(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::mesh_part_options>();
  auto* const command = app.add_subcommand("mesh-part", "Some of the relays (started by mesh)");
  command->group(""); // not shown
  command->add_option("--family", options->family)->required();
  command->add_option("--relays", options->relays)->required();
  command->add_option("--first", options->first)->required();
  command->add_option("--step", options->step)->required();
  command->add_option("--sockets", options->sockets)->required();
  command->callback([options, &outcome] { outcome = bench::serve_mesh(*options); });
}

} // namespace pubsub::tool
