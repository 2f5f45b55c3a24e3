// What a sink lends to its records, and for how long.
// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/sink_ledger.hpp"

#include <string>

#include <doctest/doctest.h>
#include <pubsub/data_message.hpp>

#include "bridge/mapping/message_mapper.hpp"

using namespace pubsub;
using namespace pubsub::bridge;

namespace {

input_item item_of(std::uint64_t i) {
  provenance whence;
  whence.topic = "t";
  return {make_data_message("t", data{"value " + std::to_string(i)}), std::move(whence), false};
}

message_mapper mapper_for(payload_format format) {
  sink_options options;
  options.topics = {"t"};
  options.format = format;
  auto result =
      message_mapper::make(options, [](std::string_view name) { return std::string{name}; });
  REQUIRE(result);
  return std::move(*result);
}

std::vector<engine_record> records_of(const input_item& item, payload_format format) {
  auto mapper = mapper_for(format);
  std::vector<engine_record> result;
  REQUIRE(mapper.map(item.from(), item.value(), result) == nullptr);
  REQUIRE(result.size() == 1);
  return result;
}

} // namespace

TEST_CASE("a payload in the format of the network is the bytes of the message, and is not copied") {
  const auto item = item_of(1);
  const auto bytes = item.value().bytes();
  const auto binary = records_of(item, payload_format::binary);
  CHECK(binary[0].payload.is_lent());
  CHECK(static_cast<const void*>(binary[0].payload.view().data()) == bytes.data());
  CHECK(binary[0].payload.size() == bytes.size());
  const auto json = records_of(item, payload_format::json);
  CHECK_FALSE(json[0].payload.is_lent());
  CHECK(json[0].payload.view() == R"({"@data-type":"string","data":"value 1"})");
}

TEST_CASE("the bytes that a ledger lends stay where they are until all records are settled") {
  sink_ledger ledger;
  constexpr std::uint64_t n = 1'000;
  std::vector<engine_record> lent;
  auto mapper = mapper_for(payload_format::binary);
  for (std::uint64_t i = 0; i < n; ++i) {
    const auto number = ledger.add(item_of(i));
    const auto& item = ledger.item(number);
    REQUIRE(mapper.map(item.from(), item.value(), lent) == nullptr);
    ledger.expect(number, i % 3 == 0 ? 2 : 1);
  }
  // All but those of which one of two records is still with the engine, not in order.
  for (std::uint64_t i = n; i-- > 0;)
    CHECK(ledger.settle(i, outcome::written, 1) == nullptr);
  ledger.publish();
  CHECK(ledger.counters().delivered == n - (n + 2) / 3);
  CHECK(ledger.counters().in_flight == (n + 2) / 3);
  for (std::uint64_t i = 0; i < n; i += 3) {
    const auto bytes = ledger.item(i).value().bytes();
    REQUIRE(lent[i].payload.view() ==
            std::string_view{reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    REQUIRE(static_cast<const void*>(lent[i].payload.view().data()) == bytes.data());
    CHECK(ledger.item(i).value().as_string() == "value " + std::to_string(i));
    CHECK(ledger.settle(i, outcome::written, 1) == nullptr);
  }
  ledger.publish();
  CHECK(ledger.empty());
  CHECK(ledger.counters().delivered == n);
}

TEST_CASE("a dead letter has the bytes of the message for as long as it is expected") {
  sink_ledger ledger;
  auto mapper = mapper_for(payload_format::binary);
  const auto number = ledger.add(item_of(7));
  ledger.expect(number, 1);
  const auto why = ledger.settle(number, outcome::refused, 0);
  REQUIRE(why == &rejections::refused);
  ledger.expect_dead_letter(number, why);
  const auto letter =
      mapper.dead_letter(ledger.item(number).from(), ledger.item(number).value(), name_of(why));
  CHECK(letter.payload.is_lent());
  CHECK(letter.from.reason.view() == "refused");
  const auto bytes = ledger.item(number).value().bytes();
  CHECK(static_cast<const void*>(letter.payload.view().data()) == bytes.data());
  CHECK(ledger.settle(number, outcome::written, 1) == nullptr);
  ledger.publish();
  CHECK(ledger.empty());
  CHECK(ledger.counters().rejected.refused == 1);
  CHECK(ledger.counters().dead_letters == 1);
}
