// What is made of measured values, and how topics are chosen.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "scale/scenario.hpp"

namespace pubsub::scale {

/// Of this process so far.
inline double cpu_ms() {
  return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

inline double quantile(std::vector<double> all, double part) {
  if (all.empty())
    return 0;
  std::ranges::sort(all);
  const auto place = std::ceil(part * static_cast<double>(all.size())) - 1;
  return all[static_cast<std::size_t>(std::max(place, 0.0))];
}

inline cost median_of(const std::vector<cost>& all) {
  const auto median = [&](double cost::*member) {
    std::vector<double> values;
    for (const auto& each : all)
      values.push_back(each.*member);
    return quantile(values, 0.5);
  };
  return {median(&cost::frames), median(&cost::bytes),    median(&cost::worst_node),
          median(&cost::cpu_ms), median(&cost::hops_p50), median(&cost::hops_p99)};
}

/// What relays subscribe to: the n-th of so many topics comes 1/n times as often as the first;
/// where there are none, no two are the same.
class topic_choice {
public:
  explicit topic_choice(std::size_t topics) {
    double sum = 0;
    for (std::size_t n = 1; n <= topics; ++n)
      sums_.push_back(sum += 1 / static_cast<double>(n));
  }
  /// The n-th subscription of the relay.
  std::string operator()(std::size_t relay, std::size_t n, std::mt19937_64& dice) const {
    if (sums_.empty())
      return fmt::format("/own/{}/{}/", relay, n);
    const auto at = std::uniform_real_distribution<double>{0, sums_.back()}(dice);
    return fmt::format("/zipf/{}/", std::ranges::lower_bound(sums_, at) - sums_.begin());
  }

private:
  std::vector<double> sums_;
};

} // namespace pubsub::scale
