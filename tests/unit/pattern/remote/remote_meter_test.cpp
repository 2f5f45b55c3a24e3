#include "pattern/remote/remote_meter.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::pattern;
using namespace std::chrono_literals;

namespace {

/// Replies over a way whose properties are known.
struct way {
  void pass(std::size_t request_bytes, std::size_t reply_bytes, std::uint64_t operations = 1) {
    const auto bytes = [](std::size_t n, double per_s) {
      return std::chrono::nanoseconds{static_cast<std::int64_t>(1e9 * double(n) / per_s)};
    };
    const auto here = operation * operations;
    const auto sent = now;
    now += latency + bytes(request_bytes, up) + here + bytes(reply_bytes, down);
    meter.add({which, sent, now, here, here, operations, operations, request_bytes, reply_bytes,
               alone, prompt});
  }

  std::chrono::nanoseconds latency = 100us, operation = 5us;
  double up = 5e9 / 8, down = 5e9 / 8;
  bool alone = true, prompt = true;
  std::uint32_t which = 0;
  remote_meter::time now{1h};
  remote_meter meter;
};

} // namespace

TEST_CASE("latency is what a short message takes without the time in the server") {
  way it;
  for (int i = 0; i < 10; ++i)
    it.pass(100, 100);
  CHECK(it.meter.conditions().latency < 101us);
  CHECK(it.meter.conditions().latency >= 100us);
  CHECK(it.meter.conditions().operation == 5us);
  CHECK(it.meter.conditions().argument_bytes == doctest::Approx(100));
}

TEST_CASE("rates are told from long messages, each way for itself") {
  way it;
  it.up = 40e6 / 8;
  it.down = 7e6 / 8;
  it.latency = 40ms;
  for (int i = 0; i < 3; ++i) {
    it.pass(100, 100);
    it.pass(1'000'000, 100);
    it.pass(100, 1'000'000);
  }
  CHECK(it.meter.conditions().request_bytes_per_s == doctest::Approx(it.up).epsilon(0.05));
  CHECK(it.meter.conditions().reply_bytes_per_s == doctest::Approx(it.down).epsilon(0.05));
}

TEST_CASE("a link that becomes slow is seen within a second") {
  way it;
  for (int i = 0; i < 1'000; ++i)
    it.pass(100, 100);
  CHECK(it.meter.conditions().latency < 1ms);
  it.latency = 40ms;
  const auto since = it.now;
  while (it.now - since < 1'100ms)
    it.pass(100, 100);
  CHECK(it.meter.conditions().latency >= 40ms);
  it.latency = 100us; // and one that becomes fast at once
  it.pass(100, 100);
  CHECK(it.meter.conditions().latency < 1ms);
}

TEST_CASE("the time of an operation follows what is measured") {
  way it;
  it.pass(100, 100);
  it.operation = 1ms;
  for (int i = 0; i < 50; ++i)
    it.pass(100, 100);
  CHECK(it.meter.conditions().operation > 900us);
}

TEST_CASE("what cannot be is passed over") {
  remote_meter meter;
  reply_sample none;
  meter.add(none);
  none.operations = none.asked = 1;
  none.here = 1h; // longer than all of it
  meter.add(none);
  CHECK(meter.conditions().latency == 0ns);
}

TEST_CASE("replies that lay unread do not make the latency longer") {
  way it;
  it.pass(100, 100);
  it.latency = 50ms; // as the client sees it, who is busy
  it.prompt = false;
  for (int i = 0; i < 100; ++i)
    it.pass(100, 100);
  CHECK(it.meter.conditions().latency < 1ms);
}

TEST_CASE("of a stream the rates are told as it flows, unless its messages are short") {
  way it;
  it.latency = 0ns;
  it.operation = 0ns;
  it.pass(100, 100);
  it.alone = false;
  for (int i = 0; i < 10'000; ++i)
    it.pass(100, 1'000);
  CHECK(it.meter.conditions().reply_bytes_per_s == 0);
  for (int i = 0; i < 1'000; ++i)
    it.pass(100, 100'000);
  CHECK(it.meter.conditions().reply_bytes_per_s == doctest::Approx(5e9 / 8).epsilon(0.02));
  CHECK(it.meter.conditions().request_bytes_per_s == 0);
}

TEST_CASE("a break is no part of a stream") {
  way it;
  it.latency = 0ns;
  it.operation = 0ns;
  const auto stream = [&] {
    it.alone = true;
    it.pass(100, 100);
    it.alone = false;
    for (int i = 0; i < 100; ++i)
      it.pass(100, 100'000);
  };
  for (int i = 0; i < 10; ++i) {
    stream();
    it.now += 400ms;
  }
  CHECK(it.meter.conditions().reply_bytes_per_s == doctest::Approx(5e9 / 8).epsilon(0.02));
}

TEST_CASE("what calls cost the client is the sum of both ways") {
  remote_meter meter;
  meter.add_calls(100, 50us, false);
  meter.add_calls(100, 30us, true);
  meter.add_calls(0, 1s, true);
  CHECK(meter.conditions().call == 800ns);
}

TEST_CASE("each operation has its own averages, and what is new has none") {
  way it;
  it.pass(100, 100);
  it.which = 3;
  it.operation = 10ms;
  it.pass(100, 5'000);
  CHECK(it.meter.conditions(0).operation == 5us);
  CHECK(it.meter.conditions(3).operation == 10ms);
  CHECK(it.meter.conditions(3).result_bytes == doctest::Approx(5'000));
  CHECK(it.meter.conditions(1).operation == 0ns);
  CHECK(it.meter.conditions(9).operation == 0ns);
  CHECK(it.meter.conditions(9).latency == it.meter.conditions(0).latency);
  CHECK(it.meter.conditions().operation == 10ms);
}
