// SPDX-License-Identifier: BSD-3-Clause
#include "node/routing/report_pace.hpp"

#include <optional>

#include <doctest/doctest.h>

using namespace pubsub;
using namespace std::chrono_literals;

TEST_CASE("counting takes a tenth of the time at most") {
  report_pace pace;
  report_pace::time now{};
  std::optional<std::chrono::nanoseconds> later;
  pace.call_back_by([&](auto wait) { later = wait; }, [&] { return now; });
  std::size_t counts = 0;
  const auto count_all = [&] {
    ++counts;
    now += 5ms;
  };
  pace.count_if_time(count_all);
  CHECK(counts == 1);
  now += 20ms;
  pace.count_if_time(count_all);
  CHECK(counts == 1);
  REQUIRE(later == 25ms);
  now += *std::exchange(later, {});
  pace.note_call_back();
  pace.count_if_time(count_all);
  CHECK(counts == 2);
  CHECK_FALSE(later.has_value());
}
