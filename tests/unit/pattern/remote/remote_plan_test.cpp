// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/remote/remote_plan.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::pattern;
using namespace std::chrono_literals;

namespace {

remote_conditions lan() {
  remote_conditions result;
  result.latency = 100us;
  result.argument_bytes = result.result_bytes = 24;
  return result;
}

remote_conditions wan() {
  auto result = lan();
  result.latency = 40ms;
  return result;
}

request_plan plan_of(remote_mode mode) {
  remote_options options;
  options.mode = mode;
  return fixed_plan(options);
}

double predicted(const remote_conditions& at, remote_mode mode, std::size_t n) {
  return predicted_seconds(at, {}, plan_of(mode), n);
}

/// Replies over a link whose properties are known.
struct known_link {
  void pass(std::size_t request_bytes, std::size_t reply_bytes, std::uint64_t operations = 1) {
    constexpr double bytes_per_s = 5e9 / 8;
    const std::chrono::nanoseconds transfer{
        static_cast<std::int64_t>(1e9 * double(request_bytes + reply_bytes) / bytes_per_s)};
    const auto here = operation * operations;
    const auto sent = now;
    now += latency + transfer + here;
    measure({operations, request_bytes, sent}, {now, here, here, operations, reply_bytes, prompt},
            conditions);
  }

  std::chrono::nanoseconds latency = 100us, operation = 5us;
  bool prompt = true;
  std::chrono::steady_clock::time_point now{1h};
  remote_conditions conditions;
};

} // namespace

TEST_CASE("predictions are the formulas of the models where these speak of the same") {
  auto at = wan();
  CHECK(predicted(at, remote_mode::sync, 100) == doctest::Approx(100 * 0.04).epsilon(0.01));
  CHECK(predicted(at, remote_mode::bulk, 100) == doctest::Approx(0.04).epsilon(0.01));
  at.operation = 1ms;
  CHECK(predicted(at, remote_mode::pipeline, 100) ==
        doctest::Approx(0.04 + 100 * 1e-3).epsilon(0.05));
}

TEST_CASE("bulk is best for many small operations, and sync far behind where the way is long") {
  for (const auto& at : {lan(), wan()})
    CHECK(predicted(at, remote_mode::bulk, 10'000) < predicted(at, remote_mode::pipeline, 10'000));
  CHECK(predicted(lan(), remote_mode::hybrid, 10'000) <
        predicted(lan(), remote_mode::pipeline, 10'000));
  CHECK(predicted(wan(), remote_mode::sync, 1'000) >
        100 * predicted(wan(), remote_mode::pipeline, 1'000));
}

TEST_CASE("workers share operations, as far as the window lets them") {
  auto at = lan();
  at.operation = 10ms;
  const auto plan = plan_of(remote_mode::pipeline);
  CHECK(predicted_seconds(at, {1, 4}, plan, 400) ==
        doctest::Approx(predicted_seconds(at, {1, 1}, plan, 100)).epsilon(0.02));
}

TEST_CASE("the best plan takes no longer than any mode, as far as it is predicted") {
  for (const auto& conditions : {lan(), wan()})
    for (const auto operation : {0us, 10us, 1'000us})
      for (const std::size_t n : {1, 10, 1'000, 60'000}) {
        CAPTURE(n);
        CAPTURE(operation.count());
        auto at = conditions;
        at.operation = operation;
        const auto best = predicted_seconds(at, {}, best_plan(at, {}, n, {}), n);
        for (const auto mode : {remote_mode::sync, remote_mode::bulk, remote_mode::async,
                                remote_mode::pipeline, remote_mode::hybrid})
          CHECK(best <= 1.1 * predicted(at, mode, n));
      }
}

TEST_CASE("a few small operations are one request, many are several") {
  auto at = lan();
  CHECK(best_plan(at, {}, 100, {}).mode == remote_mode::bulk);
  const auto many = best_plan(at, {}, 100'000, {});
  CHECK(many.mode == remote_mode::hybrid);
  CHECK(many.bulk_operations < 10'000);
  CHECK(many.bulk_operations > 100);
}

TEST_CASE("a request has few bytes, since all of them come before its first operation") {
  auto at = wan();
  at.argument_bytes = 10'000;
  CHECK(best_plan(at, {}, 1'000, {}).bulk_operations <= 6);
  at.argument_bytes = 1e6;
  CHECK(best_plan(at, {}, 1'000, {}).mode == remote_mode::pipeline);
}

TEST_CASE("the window covers the latency, and is no longer than it must be") {
  auto at = wan();
  CHECK(best_plan(at, {}, 60'000, {}).window_operations >= 60'000); // nothing is known
  at.operation = 10ms;
  CHECK(best_plan(at, {}, 60'000, {}).window_operations == 16); // 160 ms
  CHECK(best_plan(at, {2, 100}, 60'000, {}).window_operations == 1'600);
  at.operation = 1s;
  CHECK(best_plan(at, {2, 100}, 60'000, {}).window_operations == 200);
  at.operation = 1us;
  at.result_bytes = 1e6;
  const auto window = best_plan(at, {}, 60'000, {}).window_operations;
  CHECK(window >= 4);
  CHECK(window < 100);
}

TEST_CASE("instances get bulks that keep them busy only for a short time") {
  auto at = lan();
  at.operation = 10ms;
  CHECK(best_plan(at, {2, 2}, 1'000, {}).bulk_operations <= 5);
}

TEST_CASE("one operation alone is one request") {
  const auto plan = best_plan(lan(), {}, 1, {});
  CHECK(plan.bulk_operations == 1);
  CHECK(predicted_seconds(lan(), {}, plan, 0) == 0);
}

// -- the meter ------------------------------------------------------------------------------------

TEST_CASE("latency is what a short message takes without the time in the server") {
  known_link it;
  for (int i = 0; i < 10; ++i)
    it.pass(100, 100);
  CHECK(it.conditions.latency < 101us);
  CHECK(it.conditions.latency >= 100us);
  CHECK(it.conditions.operation == 5us);
  CHECK(it.conditions.argument_bytes == doctest::Approx(100));
}

TEST_CASE("a link that becomes slow is seen within a second") {
  known_link it;
  for (int i = 0; i < 1'000; ++i)
    it.pass(100, 100);
  CHECK(it.conditions.latency < 1ms);
  it.latency = 40ms;
  const auto since = it.now;
  while (it.now - since < 1'100ms)
    it.pass(100, 100);
  CHECK(it.conditions.latency > 35ms);
  it.latency = 100us; // and one that becomes fast at once
  it.pass(100, 100);
  CHECK(it.conditions.latency < 1ms);
}

TEST_CASE("the time of an operation follows what is measured") {
  known_link it;
  it.pass(100, 100);
  it.operation = 1ms;
  for (int i = 0; i < 50; ++i)
    it.pass(100, 100);
  CHECK(it.conditions.operation > 900us);
}

TEST_CASE("what cannot be is passed over") {
  remote_conditions known;
  measure({}, {}, known);
  CHECK(known.argument_bytes == 0);
  measure({1, 100, {}}, {{}, 1h, {}, 1, 100, true}, known); // longer there than under way
  CHECK(known.latency == 0ns);
}

TEST_CASE("replies that lay unread do not make the latency longer") {
  known_link it;
  it.pass(100, 100);
  it.latency = 50ms; // as a busy client measures it
  it.prompt = false;
  for (int i = 0; i < 100; ++i)
    it.pass(100, 100);
  CHECK(it.conditions.latency < 1ms);
}

TEST_CASE("long messages do not make the latency longer") {
  known_link it;
  it.pass(100, 100);
  for (int i = 0; i < 1'000; ++i)
    it.pass(100, 1'000'000);
  CHECK(it.conditions.latency < 101us);
}
