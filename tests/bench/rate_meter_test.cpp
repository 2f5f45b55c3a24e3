// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "kit/rate_meter.hpp"

using namespace std::chrono_literals;
using pubsub::tool::bench::rate_meter;
using pubsub::tool::bench::rate_statistics;

namespace {

const rate_meter::clock::time_point origin{};

} // namespace

TEST_CASE("a window closes after a second and divides by its true length") {
  rate_meter meter;
  meter.start(origin);
  CHECK_FALSE(meter.update(100, origin + 999ms));
  CHECK(meter.update(300, origin + 2s) == 150.0);
  CHECK(meter.update(400, origin + 3s) == 100.0);
  CHECK(meter.samples() == std::vector<double>{150, 100});
}

TEST_CASE("the last window counts from half a second on, or if it is the only one") {
  rate_meter meter;
  meter.start(origin);
  meter.update(100, origin + 1s);
  meter.finish(150, origin + 1400ms);
  CHECK(meter.samples().size() == 1);
  meter.finish(150, origin + 1500ms);
  CHECK(meter.samples() == std::vector<double>{100, 100});
  rate_meter brief;
  brief.start(origin);
  brief.finish(10, origin + 100ms);
  CHECK(brief.samples() == std::vector<double>{100});
}

TEST_CASE("what came before the start does not count") {
  rate_meter meter;
  meter.start(origin, 1'000);
  CHECK(meter.update(1'100, origin + 1s) == 100.0);
}

TEST_CASE("statistics give the median and the extremes") {
  auto odd = rate_statistics::of({3, 1, 2});
  CHECK(odd.median == 2);
  CHECK(odd.min == 1);
  CHECK(odd.max == 3);
  CHECK(odd.samples == std::vector<double>{3, 1, 2});
  CHECK(rate_statistics::of({1, 2, 3, 10}).median == 2.5);
  CHECK(rate_statistics::of({}).median == 0);
}
