// `pubsub-scale`: what networks of very many relays cost, simulated with the code of real ones.
// SPDX-License-Identifier: BSD-3-Clause
#include "kit/picture.hpp"
#include "kit/report.hpp"
#include "scale/one_relay.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <array>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

namespace pubsub::tool::bench {

namespace {

using scale::cost;
using scale::outcome;

constexpr const char* examples = R"(Examples:
  pubsub-scale --relays 100
  pubsub-scale --family random,hubs --relays 100,300,1000 --json scale.json --plot scale.png
  pubsub-scale --one --relays 100,1000,10000
      of networks too large for one machine: what they cost each of their relays
Every relay is a whole node: its routing, peering and frames are those of real ones, in one thread
and in virtual time; a wire takes one hop time. For each kind of change: frames and kilobytes over
all wires, kilobytes that the busiest node has sent, processor time of all nodes together, and hop
times until half and 99 of 100 of the relays knew it. Exit status: 0 ok, 1 usage, 3 a message came
twice, or was lost and not counted, or a change did not reach every relay. With --one a single relay
is whole, and told of all others by its neighbours: frames are those that it receives.)";

/// The kinds of changes, in the order in which they are made.
struct kind_of_change {
  const char* name; // in the report
  const char* label;
  cost outcome::*of;
};
constexpr std::array changes{
    kind_of_change{"start", "start", &outcome::start},
    kind_of_change{"subscribing", "all subscribe", &outcome::subscribing},
    kind_of_change{"fresh_topic", "fresh topic", &outcome::fresh_topic},
    kind_of_change{"known_topic", "known topic", &outcome::known_topic},
    kind_of_change{"relay_comes", "relay comes", &outcome::relay_comes},
    kind_of_change{"relay_goes", "relay goes", &outcome::relay_goes},
    kind_of_change{"halves_part", "halves part", &outcome::halves_part},
    kind_of_change{"halves_meet", "halves meet", &outcome::halves_meet},
    kind_of_change{"churn", "a minute of churn", &outcome::churn},
};

void print(const char* name, const cost& x) {
  fmt::print("  {:<18} {:>9.0f} {:>11.1f} {:>10.1f} {:>10.2f} {:>7.0f} {:>7.0f}\n", name, x.frames,
             x.bytes / 1e3, x.worst_node / 1e3, x.cpu_ms, x.hops_p50, x.hops_p99);
}

void print(const outcome& x, bool one) {
  fmt::print("{}: {} relays, {} wires, diameter {}, {} subscriptions each\n", x.of.family,
             x.of.relays, x.wires, x.diameter, x.of.subscriptions);
  fmt::print("  {:<18} {:>9} {:>11} {:>10} {:>10} {:>7} {:>7}\n", "", "frames", "kB", "worst kB",
             "cpu ms", "hops50", "hops99");
  for (const auto& [name, label, change] : changes)
    if ((x.*change).frames > 0 || !one)
      print(label, x.*change);
  if (one)
    fmt::print("  heap of the relay {:.2f} MB\n", static_cast<double>(x.bytes_of_worst) / 1e6);
  else
    fmt::print(
        "  routes {:.3f} of the shortest; {} of {} messages delivered, {} twice, {} counted as "
        "expired; worst node {:.2f} MB\n",
        x.stretch, x.delivered, x.expected, x.duplicates, x.expired,
        static_cast<double>(x.bytes_of_worst) / 1e6);
  std::fflush(stdout);
}

json_object describe(const cost& x) {
  json_object result;
  result.add("frames", x.frames)
      .add("bytes", x.bytes)
      .add("worst_node_bytes", x.worst_node)
      .add("cpu_ms", x.cpu_ms)
      .add("hops_p50", x.hops_p50)
      .add("hops_p99", x.hops_p99);
  return result;
}

json_object describe(const outcome& x, bool one) {
  json_object result;
  result.add("family", x.of.family)
      .add("relays", x.of.relays)
      .add("subscriptions", x.of.subscriptions)
      .add("wires", x.wires)
      .add("diameter", x.diameter);
  for (const auto& [name, label, change] : changes)
    if ((x.*change).frames > 0 || !one)
      result.add(name, describe(x.*change));
  result.add("stretch", x.stretch)
      .add("expected", x.expected)
      .add("delivered", x.delivered)
      .add("expired", x.expired)
      .add("duplicates", x.duplicates)
      .add("worst_node_heap_bytes", x.bytes_of_worst);
  return result;
}

bool sound(const outcome& x) {
  const bool all_knew =
      std::ranges::all_of(changes, [&](const auto& each) { return (x.*each.of).hops_p99 >= 0; });
  return all_knew && x.delivered + x.expired == x.expected && x.duplicates == 0;
}

struct scale_options {
  std::vector<std::string> families{"random"};
  std::vector<std::size_t> relays{100};
  std::vector<std::size_t> subscriptions{10};
  scale::scenario each;
  bool one = false; // relay is whole
  std::string json_file;
  std::string plot_file;
};

exit_code run(const scale_options& options) {
  auto status = exit_code::ok;
  std::vector<json_object> results;
  for (const auto& family : options.families)
    for (const auto subscriptions : options.subscriptions)
      for (const auto relays : options.relays) {
        auto what = options.each;
        what.family = family;
        what.relays = relays;
        what.subscriptions = subscriptions;
        const auto found =
            (options.one ? scale::run_one_relay : scale::run)(what, [&](std::string_view doing) {
              if (stderr_is_terminal())
                fmt::print(stderr, "{}, {} relays: {}\n", family, relays, doing);
            });
        print(found, options.one);
        if (!sound(found)) {
          complain(fmt::format("{}, {} relays: not every message or change has arrived once",
                               family, relays));
          status = exit_code::loss;
        }
        results.push_back(describe(found, options.one));
      }
  json_object params;
  params.add("topics", options.each.topics)
      .add("changes", options.each.changes)
      .add("seed", options.each.seed)
      .add("one", options.one);
  const auto saved =
      save_and_draw(report_text("scale", params, results), options.json_file, options.plot_file);
  return saved != exit_code::ok ? saved : status;
}

void add_options(CLI::App& app, scale_options& options) {
  app.add_option("--family", options.families, "random, hubs, fat-tree, rings")
      ->delimiter(',')
      ->check(CLI::IsMember(scale::families()))
      ->capture_default_str();
  app.add_option("--relays", options.relays, "Numbers of relays")
      ->delimiter(',')
      ->check(CLI::Range(3U, 100'000U))
      ->capture_default_str();
  app.add_option("--subscriptions", options.subscriptions, "Subscriptions of each relay")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--topics", options.each.topics,
                 "Topics of which they choose, the n-th 1/n times as often as the first; 0: each "
                 "has topics of its own")
      ->capture_default_str();
  app.add_option("--changes", options.each.changes, "Changes of each kind")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seed", options.each.seed, "The same seed makes the same networks")
      ->capture_default_str();
  app.add_flag("--one", options.one, "Simulate one relay only, and what its neighbours tell it");
  app.add_option("--json", options.json_file, "Write all figures to FILE")->type_name("FILE");
  app.add_option("--plot", options.plot_file, "Draw them to FILE (.png, .svg, .pdf)")
      ->type_name("FILE");
  app.footer(examples);
}

} // namespace

} // namespace pubsub::tool::bench

int main(int argc, char** argv) {
  using namespace pubsub::tool;
  CLI::App app{"Simulates networks of very many relays, with the code of real ones.",
               "pubsub-scale"};
  bench::scale_options options;
  bench::add_options(app, options);
  CLI11_PARSE(app, argc, argv);
  return static_cast<int>(bench::run(options));
}
