// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/versioned/protocol/replica_log.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::pattern;

namespace {

endpoint_id client(std::uint8_t n) {
  endpoint_id::bytes_type bytes{};
  bytes.fill(n);
  return endpoint_id{bytes};
}

/// `count` messages of client 1.
log_entry entry(message_version at, std::uint64_t client_first, std::uint64_t count = 1) {
  log_entry result;
  result.client = client(1);
  result.run = {client_first, count, at, 1};
  data values = vector(count, data{pubsub::count{7}});
  result.storage = make_data_message("t", std::move(values));
  const auto view = get_view(result.storage);
  const auto whole = view.bytes();
  const auto* first = (*view.elements().begin()).bytes().data();
  result.values = {count, whole.subspan(static_cast<std::size_t>(first - whole.data()))};
  return result;
}

std::vector<std::uint64_t> handed_out(replica_log& log) {
  std::vector<versioned_message> out;
  log.take(out, 1'000);
  std::vector<std::uint64_t> result;
  for (const auto& each : out)
    result.push_back(each.version.number);
  return result;
}

} // namespace

TEST_CASE("a log hands out what is committed, in order, whatever order it came in") {
  replica_log log{100, 1'000'000};
  log.place(entry({1, 4}, 4));
  log.place(entry({1, 1}, 1, 2));
  CHECK(log.end() == 2);
  CHECK(log.has_gap());
  CHECK(handed_out(log).empty());
  log.place(entry({1, 3}, 3));
  CHECK(log.end() == 4);
  log.commit_to(3);
  CHECK(handed_out(log) == std::vector<std::uint64_t>{1, 2, 3});
  CHECK(log.place(entry({1, 3}, 3)) == replica_log::place_result::known);
  CHECK(log.place(entry({1, 2}, 9)) == replica_log::place_result::refused);
  log.commit_to(1'000); // no further than what is here
  CHECK(handed_out(log) == std::vector<std::uint64_t>{4});
}

TEST_CASE("a log drops above the commit what has other epochs than the leader says") {
  replica_log log{100, 1'000'000};
  for (std::uint64_t i = 1; i <= 5; ++i)
    log.place(entry({i < 4 ? 1U : 2U, i}, i));
  log.commit_to(2);
  start_message start;
  start.at.number = 3;
  start.commit = 2;
  start.end = 4;
  start.runs = {{3, 1}, {4, 3}}; // 4 is void
  log.conform(start);
  CHECK(log.end() == 4);
  log.commit_to(4);
  std::vector<versioned_message> out;
  log.take(out, 10);
  REQUIRE(out.size() == 4);
  CHECK(out[2].version == message_version{1, 3});
  CHECK(out[3].version == message_version{3, 4});
  CHECK(out[3].is_void());
  CHECK(log.clients().is_next(client(1), 4, 1));
}

TEST_CASE("what is awaited is void once its replica begins an epoch") {
  replica_log log{100, 1'000'000};
  auto awaited = entry({1, 1}, 1, 2);
  awaited.here = false;
  log.append(awaited);
  log.append(entry({1, 3}, 3));
  log.place(entry({1, 5}, 5));
  CHECK(log.here() == 0);
  start_message start;
  start.at.number = 2;
  start.end = log.end();
  start.runs = log.epochs(2);
  CHECK(start.runs == std::vector<epoch_run>{{1, 2}, {3, 1}});
  log.conform(start);
  CHECK(log.here() == 3);
  CHECK_FALSE(log.has_gap());
  CHECK(log.find(1)->client.is_nil());
  CHECK(log.clients().find(client(1), 1) == nullptr);
  CHECK(log.clients().find(client(1), 3) != nullptr);
  CHECK(log.epochs(3) == start.runs);
}

TEST_CASE("history is kept to its limit, and what waits to be handed out always") {
  replica_log log{3, 1'000'000};
  for (std::uint64_t i = 1; i <= 10; ++i)
    log.place(entry({1, i}, i));
  log.commit_to(8);
  CHECK(log.forgotten() == 0);
  CHECK(handed_out(log).size() == 8);
  CHECK(log.forgotten() >= 4);
  CHECK(log.find(9) != nullptr);
}

TEST_CASE("another replica can go on only where all of an entry was handed out") {
  replica_log log{1, 1'000'000};
  log.place(entry({1, 1}, 1, 3));
  log.commit_to(3);
  CHECK(log.is_between_entries());
  std::vector<versioned_message> out;
  log.take(out, 2);
  CHECK_FALSE(log.is_between_entries());
  log.take(out, 1);
  CHECK(log.is_between_entries());
}

TEST_CASE("a client's message gets one version, and what it has given up none") {
  client_numbers numbers;
  CHECK_FALSE(numbers.is_next(client(1), 2, 1)); // others must come before
  CHECK(numbers.is_next(client(1), 1, 1));
  numbers.add(client(1), {1, 3, {1, 10}, 1});
  REQUIRE(numbers.find(client(1), 1) != nullptr);
  CHECK(numbers.find(client(1), 1)->at == message_version{1, 10});
  CHECK(numbers.is_next(client(1), 4, 4));
  CHECK(numbers.is_next(client(1), 8, 8)); // it waits for none below
  CHECK_FALSE(numbers.is_next(client(1), 7, 8));
  numbers.take_back(client(1), {1, 3, {1, 10}, 1});
  CHECK(numbers.find(client(1), 1) == nullptr);
  CHECK(numbers.is_next(client(1), 1, 1));
}
