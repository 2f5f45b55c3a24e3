// SPDX-License-Identifier: BSD-3-Clause
#include "studies/emulator/own_costs.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "studies/emulator/bare_ends.hpp"
#include "studies/emulator/link_emulator.hpp"

namespace emulator {

namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

struct point {
  nanoseconds round_trip;
  unsigned count; // of round trips on one connection
};
constexpr point points[] = {{100us, 40}, {300us, 14}, {1ms, 6}, {5ms, 1}};
constexpr int connections = 25;
constexpr int median = connections / 2;
constexpr int steps = 3;

nanoseconds measured(const point& x, const own_costs& costs) {
  bare_server server;
  link_emulator link{"127.0.0.1:0", "127.0.0.1:" + std::to_string(server.port()),
                     link_settings{x.round_trip, 0, 0}, costs};
  return bare_client{link.port()}.median_round_trip(x.count);
}

// The points in turns: whatever slows the machine down for a while meets few values of each. Each
// with threads of its own: much depends on which processors these happen to run on.
void come_nearer(own_costs& costs) {
  std::vector<nanoseconds> times[std::size(points)];
  for (int i = 0; i < connections; ++i)
    for (std::size_t n = 0; n < std::size(points); ++n)
      times[n].push_back(measured(points[n], costs));
  for (std::size_t n = 0; n < std::size(points); ++n) {
    std::ranges::sort(times[n]);
    auto& [round_trip, cost] = costs.samples[n];
    cost = std::clamp(cost + times[n][median] - round_trip, 0ns, round_trip);
  }
}

} // namespace

nanoseconds own_costs::at(nanoseconds round_trip) const {
  const bool awake = round_trip <= longest_awake;
  const sample* below = nullptr;
  const sample* above = nullptr;
  for (const auto& each : samples) {
    if ((each.round_trip <= longest_awake) != awake)
      continue;
    if (each.round_trip <= round_trip)
      below = &each;
    else if (above == nullptr)
      above = &each;
  }
  if (below == nullptr || above == nullptr)
    return below != nullptr ? below->cost : above != nullptr ? above->cost : 0ns;
  const auto way = static_cast<double>((round_trip - below->round_trip).count()) /
                   static_cast<double>((above->round_trip - below->round_trip).count());
  const auto more = static_cast<double>((above->cost - below->cost).count()) * way;
  return below->cost + nanoseconds{static_cast<nanoseconds::rep>(more)};
}

// In steps, since what is taken off makes everybody wait less, and waiting less costs less.
own_costs measure_own_costs() {
  own_costs costs;
  for (const auto& x : points)
    costs.samples.push_back({x.round_trip, 0ns});
  for (int step = 0; step < steps; ++step)
    come_nearer(costs);
  return costs;
}

} // namespace emulator
