#include "pattern/remote/remote_plan.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::pattern;
using namespace std::chrono_literals;

namespace {

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
  it.latency = 50ms; // as the client sees it, who is busy
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
