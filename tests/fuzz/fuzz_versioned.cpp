// Any bytes as what replicas and clients of a group say to each other: written as it was read, and
// whatever it says, who hears it stays in order.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/check.hpp"
#include "fuzz/ids.hpp"
#include "fuzz/target.hpp"

#include "pattern/versioned/protocol/client_window.hpp"
#include "pattern/versioned/protocol/replica_protocol.hpp"

namespace pubsub::fuzz {

namespace {

using namespace pattern;

/// Nobody is there.
struct silence final : versioned_port {
  bool send(versioned_target, const endpoint_id&, std::span<const std::byte>) override {
    return true;
  }
};

void read_and_write(const data_view& value) {
  const auto what = parse_message(value);
  if (!what)
    return;
  data_writer out;
  std::visit([&](const auto& x) { write(out, x); }, *what);
  const auto again = data_view::make(out.bytes());
  check(again.has_value() && parse_message(*again).has_value(),
        "what was read can be written and read again");
}

/// By a replica that is alone in its group and leads it, and by one that looks for others.
void hear(const data_message& msg) {
  silence port;
  const auto begin = std::chrono::steady_clock::now();
  for (const std::size_t size : {1U, 3U}) {
    replica_options options;
    options.group_size = size;
    replica_protocol replica{id_of(1), "a", options, port, begin};
    auto now = begin;
    for (int i = 0; i < 12; ++i)
      replica.tick(now += std::chrono::milliseconds{200});
    for (int i = 0; i < 2; ++i) {
      replica.receive(msg, now);
      replica.settle(now);
      replica.tick(now += std::chrono::milliseconds{200});
    }
    std::vector<versioned_message> out;
    replica.take(out, 1'000);
    std::uint64_t last = 0;
    for (const auto& each : out)
      if (each.version.number > 0)
        check(each.version.number == ++last, "numbers have no gap");
  }
  client_window window{id_of(2), "g", {}, port, begin};
  data_writer value;
  value.write_count(1);
  window.add(value.bytes(), begin);
  window.receive(msg, begin);
  window.tick(begin + std::chrono::milliseconds{300});
  const auto& counted = window.counters();
  check(counted.sent == counted.acknowledged + counted.failed + window.in_flight(),
        "every message is acknowledged, given up or in flight");
}

void try_input(std::span<const std::byte> input) {
  const auto value = data_view::make(input);
  if (!value)
    return;
  read_and_write(*value);
  hear(make_data_message("t", value->to_data()));
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input(std::as_bytes(std::span{data, size}));
  return 0;
}
