// SPDX-License-Identifier: BSD-3-Clause
#include "filter/condition_set.hpp"
#include "filter/subscription_text.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include <pubsub/binary.hpp>
#include <pubsub/zeek/log.hpp>

#include "support/random_data.hpp"

using namespace pubsub;

namespace {

using condition_ptr = condition_set::condition_ptr;

condition_ptr where(std::string_view text, const condition_options& options = {}) {
  auto made = condition::make(text, options);
  REQUIRE_MESSAGE(made.has_value(), text);
  return std::make_shared<const condition>(std::move(*made));
}

/// One letter for each condition: `+` wanted, `-` not.
std::string wanting(condition_set& set, std::string_view topic, const data& value,
                    conditions::log_columns& columns) {
  const auto bytes = *encode_binary(value);
  const auto bits = set.wanting(topic, bytes, columns);
  std::string result;
  for (std::size_t i = 0; i < set.size(); ++i)
    result += !bits.empty() && (bits[i / 64] >> (i % 64) & 1) != 0 ? '+' : '-';
  return result;
}

data record(count n) {
  return zeek::make_log_event("p", vector{"x", n});
}
const data announcement =
    zeek::make_log_fields_event({.path = "p", .fields = {{"name", "string"}, {"n", "count"}}});

} // namespace

TEST_CASE("conditions on one field are found by its value, the others one by one") {
  condition_set set{{where("$0 == 1"), where("$0 in {2, 3}"), where("$0 == 1.0 && $1 == \"x\""),
                     where("$0 > 1"), where("$0 == \"1\""), where("$0 == 1 || $0 == 2")}};
  CHECK(set.evaluated() == 2);
  conditions::log_columns columns;
  const auto of = [&](const data& first, const char* second) {
    return wanting(set, "t", vector{first, second}, columns);
  };
  CHECK(of(1U, "x") == "+-+--+");
  CHECK(of(1, "y") == "+----+");
  CHECK(of(1.0, "x") == "+-+--+");
  CHECK(of(2U, "x") == "-+-+-+");
  CHECK(of(3.5, "x") == "---+--");
  CHECK(of("1", "x") == "----+-");
  CHECK(of(none{}, "x") == "------");
  CHECK(wanting(set, "t", 1U, columns) == "------");
}

TEST_CASE("subnets are found by their lengths") {
  condition_set set{{where("$0 in 10.0.0.0/8"), where("$0 in 10.1.0.0/16"),
                     where("$0 in {10.1.2.3, 192.0.2.0/25}"), where("$0 in ::/0"),
                     where("$0 in 2001:db8::/33")}};
  CHECK(set.evaluated() == 0);
  conditions::log_columns columns;
  const auto of = [&](const data& x) { return wanting(set, "t", vector{x}, columns); };
  CHECK(of(*address::parse("10.1.2.3")) == "++++-");
  CHECK(of(*address::parse("10.2.2.3")) == "+--+-");
  CHECK(of(*address::parse("192.0.2.127")) == "--++-");
  CHECK(of(*address::parse("192.0.2.128")) == "---+-");
  CHECK(of(*address::parse("2001:db8:7fff::1")) == "---++");
  CHECK(of(*subnet::parse("10.1.2.0/24")) == "++-+-");
  CHECK(of(*subnet::parse("10.0.0.0/9")) == "+--+-");
}

TEST_CASE(
    "what cannot be decided here is wanted: columns that are not known, what cannot be read") {
  condition_set set{{where("n == 1"), where("n == 2 && name == \"x\""), where("@topic == \"t\""),
                     where("n > 5"), where("n == 1", {.columns = {{"n", "count"}}})}};
  conditions::log_columns columns;
  CHECK(wanting(set, "t", record(3), columns) == "++++-");
  CHECK(wanting(set, "t", announcement, columns) == "+++++");
  CHECK(wanting(set, "t", record(1), columns) == "+-+--");
  CHECK(wanting(set, "t", record(2), columns) == "-++--");
  CHECK(wanting(set, "u", record(2), columns) == "++-+-"); // announced on another topic
  auto bytes = *encode_binary(record(2));
  bytes.resize(bytes.size() - 4);
  CHECK((set.wanting("t", bytes, columns)[0] & 1) == 1);
}

TEST_CASE("a message that takes too long to look at is wanted") {
  condition_set set{{where("$1 == 1"), where("$1 > 1")}};
  vector deep;
  for (int i = 0; i < 20'000; ++i)
    deep.emplace_back(1U);
  conditions::log_columns columns;
  CHECK(wanting(set, "t", vector{deep, 0U}, columns) == "++");
  CHECK(wanting(set, "t", vector{vector{1U}, 0U}, columns) == "--");
}

TEST_CASE("a set wants what each of its conditions lets pass, and no more") {
  std::mt19937_64 random{23};
  const std::vector<std::string> texts{"$0 == 1",
                                       "$0 == 2",
                                       "$0 in {1, 2, 3}",
                                       "$0 == \"a\"",
                                       "$1 == 1/tcp",
                                       "$1 == T",
                                       "$0 != 1",
                                       "$0 in 10.0.0.0/8",
                                       "$1 in {::1, fe80::/10}",
                                       "$0 == 1 && $1 == 1",
                                       "$1 == 2 && exists($0)",
                                       "$0.0 == 1",
                                       "$ == 1",
                                       "$0 in \"a\"*",
                                       "$0 == -1.5",
                                       "1 in 2 by $0",
                                       "!($0 == 1)"};
  std::vector<condition_ptr> all;
  for (const auto& each : texts)
    if (auto made = condition::make(each))
      all.push_back(std::make_shared<const condition>(std::move(*made)));
  REQUIRE(all.size() >= 16);
  condition_set set{all};
  conditions::log_columns columns;
  const std::vector<data> scalars{1U,
                                  2U,
                                  3U,
                                  1,
                                  -1,
                                  -1.5,
                                  1.0,
                                  "a",
                                  "ab",
                                  enum_value{"a"},
                                  none{},
                                  true,
                                  *address::parse("10.1.1.1"),
                                  *address::parse("::1"),
                                  *subnet::parse("10.0.0.0/9"),
                                  port{1, transport::tcp},
                                  vector{1U},
                                  pubsub::set{1U}};
  const auto any = [&] { return scalars[random() % scalars.size()]; };
  for (int i = 0; i < 20'000; ++i) {
    const data value = i % 10 == 0 ? any() : data{vector{any(), any()}};
    const auto bytes = *encode_binary(value);
    std::string expected;
    for (const auto& each : all)
      expected += each->passes(each->judge("t", bytes)) ? '+' : '-';
    REQUIRE_MESSAGE(wanting(set, "t", value, columns) == expected, to_string(value));
  }
}

TEST_CASE("a condition is told with its options, and read as an equal one") {
  condition_pool pool;
  for (const auto& what :
       {where("n == 1"), where("n == 1", {.unknown = if_unknown::yes}),
        where("n == 1", {.columns = {{"x y", ""}, {"n", "count"}, {"", "addr"}}})}) {
    const auto told = told_form(*what);
    REQUIRE(!told.empty());
    const auto read = pool.read(told);
    REQUIRE(read);
    CHECK(*read == *what);
    CHECK(pool.read(told) == read);
    const auto subscription = "zeek/records" + told;
    CHECK(prefix_of(subscription) == "zeek/records");
    CHECK(condition_of(subscription) == told);
  }
  CHECK(prefix_of("plain") == "plain");
  CHECK(condition_of("plain").empty());
  CHECK(told_form(*where("n == 1", {.columns = {{"n", "count"}, {std::string("\0", 1), ""}}}))
            .empty());
}

TEST_CASE("what is no condition cannot be read") {
  condition_pool pool;
  const std::string mark{condition_mark};
  for (const auto& bad : {std::string{}, mark, mark + "(", mark + "n ==" + '\0' + "n",
                          mark + "n in /x/" + '\0' + "n", std::string{"n == 1"},
                          mark + "$ == \"" + std::string(max_told_condition_bytes, 'x') + "\""})
    CHECK(pool.read(bad) == nullptr);
}
