// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "stream/latency_histogram.hpp"

using pubsub::tool::bench::latency_histogram;

namespace {

latency_histogram of(const std::vector<std::uint64_t>& values) {
  latency_histogram result;
  for (auto x : values)
    result.record(x);
  return result;
}

// The value whose rank is the least that covers `part` of all.
std::uint64_t exact_percentile(std::vector<std::uint64_t> values, double part) {
  std::sort(values.begin(), values.end());
  auto rank = std::max(1.0, std::ceil(part * static_cast<double>(values.size())));
  return values[static_cast<std::size_t>(rank) - 1];
}

void check_close(std::uint64_t got, std::uint64_t exact) {
  CAPTURE(exact);
  CHECK(got >= exact);
  CHECK(static_cast<double>(got - exact) <= 0.01 * static_cast<double>(exact));
}

} // namespace

TEST_CASE("an empty histogram gives zeros") {
  latency_histogram empty;
  CHECK(empty.count() == 0);
  CHECK(empty.min() == 0);
  CHECK(empty.max() == 0);
  CHECK(empty.percentile(0.5) == 0);
}

TEST_CASE("a single value is every percentile, exactly") {
  for (std::uint64_t x : {std::uint64_t{0}, std::uint64_t{255}, std::uint64_t{256},
                          std::uint64_t{82'431}, UINT64_MAX}) {
    auto one = of({x});
    for (auto part : {0.0, 0.5, 0.9999, 1.0})
      CHECK(one.percentile(part) == x);
    CHECK(one.min() == x);
    CHECK(one.max() == x);
  }
}

TEST_CASE("small values are kept exactly") {
  std::vector<std::uint64_t> values;
  for (std::uint64_t x = 0; x < 200; ++x)
    values.push_back(x);
  auto all = of(values);
  CHECK(all.percentile(0.5) == 99);
  CHECK(all.percentile(0.99) == 197);
  CHECK(all.percentile(1) == 199);
}

TEST_CASE("every value is found again with at most one percent on top") {
  for (unsigned power = 0; power < 64; ++power)
    for (auto offset : {-1, 0, 1}) {
      auto x = (std::uint64_t{1} << power) + static_cast<std::uint64_t>(offset);
      if (x == UINT64_MAX || x == 0)
        continue;
      check_close(of({x, UINT64_MAX}).percentile(0.5), x); // a greater one does not clamp it
    }
}

TEST_CASE("percentiles of many spread values agree with sorting them") {
  std::mt19937_64 random{11};
  std::lognormal_distribution<double> latency{11, 1.5};
  std::vector<std::uint64_t> values;
  for (int i = 0; i < 50'000; ++i)
    values.push_back(static_cast<std::uint64_t>(latency(random)));
  auto all = of(values);
  for (auto part : {0.0001, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999})
    check_close(all.percentile(part), exact_percentile(values, part));
  CHECK(all.percentile(1) == all.max());
  CHECK(all.max() == *std::max_element(values.begin(), values.end()));
  CHECK(all.min() == *std::min_element(values.begin(), values.end()));
}

TEST_CASE("adding histograms is the same as recording all values in one") {
  auto left = of({1, 10, 100'000});
  left += of({7, 70'000'000});
  auto both = of({1, 10, 100'000, 7, 70'000'000});
  CHECK(left.count() == 5);
  CHECK(left.min() == 1);
  CHECK(left.max() == 70'000'000);
  for (auto part : {0.2, 0.4, 0.6, 0.8, 1.0})
    CHECK(left.percentile(part) == both.percentile(part));
  left += latency_histogram{};
  CHECK(left.min() == 1);
}
