// SPDX-License-Identifier: BSD-3-Clause
#include "studies/link_check.hpp"

#include "kit/report.hpp"
#include "studies/kept_awake.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "studies/emulator/bare_ends.hpp"

namespace pubsub::tool::bench {

namespace {

using ::emulator::bare_client;
using ::emulator::bare_server;
using ::emulator::link_emulator;
using ::emulator::link_settings;

// One of the three things a link is set to.
struct checked {
  const char* what;
  const char* unit;
  std::string (*text)(double);
  double set;
  std::vector<double> samples;

  double measured() const { return rate_statistics::of(samples).median; }
  double off_percent() const { return set > 0 ? 100 * (measured() / set - 1) : 0; }
};

std::vector<checked> all_of(const link_settings& x) {
  return {{"round_trip", "ns", time_text, static_cast<double>(x.round_trip.count()), {}},
          {"up", "bits/s", rate_text, x.up_bits_per_s, {}},
          {"down", "bits/s", rate_text, x.down_bits_per_s, {}}};
}

// As many as pass in the time, but enough to tell a rate from.
std::uint64_t transfer_bytes(double bits_per_s, double duration_s) {
  constexpr double least = 50'000;
  constexpr double unlimited = 256e6;
  return static_cast<std::uint64_t>(bits_per_s > 0 ? std::max(least, bits_per_s / 8 * duration_s)
                                                   : unlimited);
}

unsigned trips_of_a_round(std::chrono::nanoseconds round_trip) {
  constexpr std::int64_t some_time = 100'000'000;
  return static_cast<unsigned>(
      std::clamp<std::int64_t>(some_time / std::max<std::int64_t>(round_trip.count(), 1), 5, 500));
}

struct checks {
  std::vector<checked> all;
  std::vector<double> own_costs; // ns of a round trip
  std::chrono::nanoseconds own_cost() const {
    return std::chrono::nanoseconds{
        static_cast<std::int64_t>(rate_statistics::of(own_costs).median)};
  }
};

// Each round has a link, threads and connections of its own, and its link measures what it needs
// itself, as any does that starts: what a virtual machine needs for a short round trip changes by a
// third from one second to the next.
void measure_round(const link_check_options& options, checks& to) {
  const auto& set = options.settings;
  const auto costs = ::emulator::measure_own_costs();
  to.own_costs.push_back(static_cast<double>(costs.at(set.round_trip).count()));
  auto& all = to.all;
  bare_server server;
  link_emulator link{"127.0.0.1:0", fmt::format("127.0.0.1:{}", server.port()), set, costs};
  bare_client client{link.port()};
  const auto trip = client.median_round_trip(trips_of_a_round(set.round_trip));
  all[0].samples.push_back(static_cast<double>(trip.count()));
  all[1].samples.push_back(
      client.up_bits_per_s(transfer_bytes(set.up_bits_per_s, options.duration_s)));
  all[2].samples.push_back(
      client.down_bits_per_s(transfer_bytes(set.down_bits_per_s, options.duration_s)));
}

void print(const std::vector<checked>& all) {
  fmt::print("{:<11} {:>12} {:>12} {:>12} {:>12} {:>8}\n", "", "set", "measured", "least", "most",
             "off by");
  for (const auto& x : all) {
    const auto how = rate_statistics::of(x.samples);
    fmt::print("{:<11} {:>12} {:>12} {:>12} {:>12} {:>8}\n",
               x.what == std::string_view{"round_trip"} ? "round trip" : x.what,
               x.set > 0 ? x.text(x.set) : "no limit", x.text(how.median), x.text(how.min),
               x.text(how.max), x.set > 0 ? fmt::format("{:+.1f} %", x.off_percent()) : "");
  }
}

std::string report_of(const link_check_options& options, const kept_awake& awake,
                      const checks& what) {
  json_object params;
  params.add("own_cost_ns", static_cast<double>(what.own_cost().count()))
      .add("rounds", options.rounds)
      .add("duration_s", options.duration_s)
      .add("kept_awake", awake.in_effect())
      .add("limit_percent", options.limit_percent);
  std::vector<json_object> results;
  for (const auto& x : what.all)
    results.push_back(json_object{}
                          .add("what", x.what)
                          .add("unit", x.unit)
                          .add("set", x.set)
                          .add("measured", describe(rate_statistics::of(x.samples)))
                          .add("off_percent", x.off_percent()));
  return report_text("link", params, results);
}

exit_code judge(const std::vector<checked>& all, double limit_percent) {
  auto outcome = exit_code::ok;
  for (const auto& x : all)
    if (std::abs(x.off_percent()) > limit_percent) {
      complain(fmt::format("{}: {} is more than {} % from {}; do other programs compute here?",
                           x.what, x.text(x.measured()), limit_percent, x.text(x.set)));
      outcome = exit_code::loss;
    }
  return outcome;
}

// Four figures: three percent of anything can be seen.
std::string with_unit(double number, const std::vector<std::pair<double, const char*>>& units) {
  for (const auto& [size, name] : units)
    if (number >= size)
      return fmt::format("{:.4g} {}", number / size, name);
  return fmt::format("{:.4g} {}", number, units.back().second);
}

} // namespace

std::string time_text(double ns) {
  return with_unit(ns, {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}});
}

std::string rate_text(double bits_per_s) {
  if (bits_per_s == 0)
    return "unlimited";
  return with_unit(bits_per_s, {{1e9, "Gb/s"}, {1e6, "Mb/s"}, {1e3, "kb/s"}, {1, "b/s"}});
}

std::string link_text(const link_settings& x) {
  return fmt::format("round trip {}, up {}, down {}",
                     time_text(static_cast<double>(x.round_trip.count())),
                     rate_text(x.up_bits_per_s), rate_text(x.down_bits_per_s));
}

std::string cost_text(const link_settings& x, std::chrono::nanoseconds cost) {
  const auto text = time_text(static_cast<double>(cost.count()));
  if (cost >= x.round_trip && x.round_trip.count() > 0)
    return fmt::format("bare sockets and the link itself need {}: no round trip is shorter", text);
  return fmt::format("of a round trip bare sockets and the link itself need {}", text);
}

exit_code check_link(const link_check_options& options, const stop_signal& stop) {
  const kept_awake awake{!options.power_saving};
  checks what{all_of(options.settings), {}};
  const auto& all = what.all;
  for (unsigned round = 1; round <= options.rounds; ++round) {
    if (stop.requested()) {
      complain("interrupted");
      return exit_code::usage;
    }
    measure_round(options, what);
    if (options.progress)
      fmt::print(stderr, "round {}/{}: {}, up {}, down {}\n", round, options.rounds,
                 time_text(all[0].samples.back()), rate_text(all[1].samples.back()),
                 rate_text(all[2].samples.back()));
  }
  if (options.json_file != "-") {
    print(all);
    fmt::print("{}\n{}\n", cost_text(options.settings, what.own_cost()), awake.text());
  }
  std::fflush(stdout);
  if (!options.json_file.empty())
    if (const auto written = write_report(options.json_file, report_of(options, awake, what));
        !written)
      return fail(written.error());
  return judge(all, options.limit_percent);
}

} // namespace pubsub::tool::bench
