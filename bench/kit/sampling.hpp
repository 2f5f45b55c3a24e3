// How long one call takes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "kit/rate_meter.hpp"

namespace pubsub::tool::bench {

/// Makes the compiler believe that somebody reads `x`, so that computing it is not left out.
template <class T>
void keep(const T& x) {
  asm volatile("" : : "g"(&x) : "memory");
}

/// Nanoseconds of `calls` calls of `operation`.
template <class Operation>
double time_ns(Operation& operation, std::uint64_t calls) {
  auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < calls; ++i)
    operation();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

/// Nanoseconds a call of `operation` takes: `samples` of them, each the mean over about `length`.
template <class Operation>
rate_statistics sample_ns(Operation operation, unsigned samples, std::chrono::nanoseconds length) {
  auto wanted_ns = static_cast<double>(length.count());
  std::uint64_t calls = 1;
  auto ns = time_ns(operation, calls);
  while (ns < wanted_ns / 4) // also warms up
    ns = time_ns(operation, calls *= 2);
  calls = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(static_cast<double>(calls) * wanted_ns / ns));
  std::vector<double> results;
  for (unsigned i = 0; i < samples; ++i)
    results.push_back(time_ns(operation, calls) / static_cast<double>(calls));
  return rate_statistics::of(std::move(results));
}

/// Calls a second for each sample of nanoseconds a call.
inline rate_statistics rates_of(const rate_statistics& ns) {
  std::vector<double> rates;
  for (auto x : ns.samples)
    rates.push_back(1e9 / x);
  return rate_statistics::of(std::move(rates));
}

} // namespace pubsub::tool::bench
