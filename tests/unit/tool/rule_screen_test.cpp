// SPDX-License-Identifier: BSD-3-Clause
#include "rules/rule_screen.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <random>
#include <set>

#include "support/temporary_folder.hpp"

#include <pubsub/binary.hpp>
#include <pubsub/zeek/event.hpp>
#include <pubsub/zeek/log.hpp>

using namespace pubsub;
using namespace pubsub::tool;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view log_topic = "zeek/records/conn";

rule made(rule_text text) {
  if (text.name.empty())
    text.name = "r";
  if (text.topics.empty())
    text.topics = {""};
  auto result = make_rule(std::move(text));
  REQUIRE_MESSAGE(result, result.error().context());
  return std::move(*result);
}

std::string fault(rule_text text) {
  const auto result = make_rule(std::move(text));
  REQUIRE(!result);
  return result.error().context();
}

mask_key some_key() {
  mask_key result;
  result.bytes.fill(std::byte{7});
  return result;
}

/// A screen with the part of one link.
struct screened {
  explicit screened(std::vector<rule> rules)
      : screen(std::move(rules), some_key()), part(screen, {}) {}

  /// What becomes of the value; nothing if it is dropped.
  std::optional<data> take(const data& value, std::chrono::nanoseconds now = 0ns) {
    auto bytes = *encode_binary(value);
    if (!part.passes(log_topic, bytes, now, nullptr))
      return {};
    return *decode_binary(bytes);
  }
  bool passes(const data& value, std::chrono::nanoseconds now = 0ns) {
    return take(value, now).has_value();
  }
  rule_counters counters(std::size_t number = 0) const { return screen.counters()[number]; }

  rule_screen screen;
  rule_part part;
};

data announcement() {
  return zeek::make_log_fields_event(
      {.path = "conn", .fields = {{"uid", "string"}, {"host", "addr"}, {"bytes", "count"}}});
}

data conn_record(std::string_view uid, std::string_view host = "10.0.0.1", count bytes = 1) {
  return zeek::make_log_event("conn", vector{std::string{uid}, *address::parse(host), bytes});
}

} // namespace

TEST_CASE("drop: what fulfils the condition of the rule goes nowhere, and is counted") {
  screened with{{made({.match = "host in 10.0.0.0/8", .drop = true})}};
  CHECK(with.passes(conn_record("C1"))); // the columns are not known
  CHECK(with.take(announcement()) == announcement());
  CHECK_FALSE(with.passes(conn_record("C1")));
  CHECK(with.passes(conn_record("C2", "192.0.2.1")));
  CHECK(with.passes(data{"no record"}));
  CHECK(with.counters().matched == 1);
  CHECK(with.counters().dropped == 1);
}

TEST_CASE("a rule is about its topics only") {
  screened with{{made({.topics = {"zeek/records/dns", "x/"}, .drop = true})}};
  CHECK(with.passes(count{1}));
  CHECK(with.screen.concerns("x/1"));
  CHECK_FALSE(with.screen.concerns(log_topic));
}

TEST_CASE("sample: the messages of a flow pass together, as `1 in N by FIELD` chooses them") {
  screened with{{made({.sample = 4, .by = "uid"})}};
  with.passes(announcement());
  const auto where = *condition::make("1 in 4 by $0");
  std::uint64_t passed = 0;
  for (int i = 0; i < 400; ++i) {
    const auto uid = "C" + std::to_string(i);
    const bool once = with.passes(conn_record(uid));
    CHECK(once == with.passes(conn_record(uid, "10.0.0.9", 2)));
    CHECK(once ==
          (where.judge(log_topic, *encode_binary(conn_record(uid))) == condition_verdict::yes));
    passed += once ? 1 : 0;
  }
  CHECK(passed > 60);
  CHECK(passed < 140);
  CHECK(with.counters().passed == 2 * passed);
  CHECK(with.counters().matched == 800);
  CHECK(with.passes(data{"has no uid"}));
  CHECK(with.counters().matched == 800);
}

TEST_CASE("sample without a field chooses among all messages") {
  screened with{{made({.sample = 10})}};
  std::uint64_t passed = 0;
  for (std::uint64_t i = 0; i < 1'000; ++i)
    passed += with.passes(count{i}) ? 1 : 0;
  CHECK(passed > 60);
  CHECK(passed < 140);
}

TEST_CASE("rate_limit: so many a second for each value of the field") {
  screened with{{made({.rate_limit = 2.0, .by = "$0"})}};
  const auto passed = [&](std::string value, std::chrono::nanoseconds now) {
    int result = 0;
    for (int i = 0; i < 5; ++i)
      result += with.passes(vector{value}, now) ? 1 : 0;
    return result;
  };
  CHECK(passed("a", 0s) == 2);
  CHECK(passed("b", 0s) == 2);
  CHECK(passed("a", 500ms) == 1);
  CHECK(passed("a", 1500ms) == 2);
  CHECK(passed("a", 1h) == 2);
  CHECK(with.counters().passed == 9);
  CHECK(with.counters().dropped == 16);
}

TEST_CASE(
    "rate_limit: values are forgotten when they have been idle, and otherwise share a bucket") {
  rate_limiter limiter{1};
  for (std::uint64_t i = 0; i < rate_limiter::max_values; ++i)
    REQUIRE(limiter.take(i, 10s));
  int shared = 0;
  for (std::uint64_t i = 0; i < 100; ++i)
    shared += limiter.take(1'000'000 + i, 10s) ? 1 : 0;
  CHECK(shared == 1);
  CHECK(limiter.values() == rate_limiter::max_values);
  CHECK(limiter.take(2'000'000, 12s));
  CHECK(limiter.values() == 1);
  CHECK_FALSE(limiter.take(2'000'000, 11s)); // a clock that jumps back fills nothing
}

TEST_CASE("mask: the field is another value of its type, and all else stays") {
  screened with{{made({.mask = {"host", "uid"}})}};
  with.passes(announcement());
  const auto hidden = with.take(conn_record("C1"));
  REQUIRE(hidden);
  const auto columns = [](const data& event) {
    return get<vector>(zeek::parse_event(event)->args.front());
  };
  CHECK(columns(*hidden)[0].get_if<std::string>() != nullptr);
  CHECK(columns(*hidden)[0] != data{"C1"});
  CHECK(columns(*hidden)[1].get_if<address>() != nullptr);
  CHECK(columns(*hidden)[1] != data{*address::parse("10.0.0.1")});
  CHECK(columns(*hidden)[2] == data{count{1}});
  CHECK(with.take(conn_record("C1")) == hidden);
  CHECK(with.counters().passed == 2);
}

TEST_CASE("rules know the columns of logs on the topics of Zeek as well") {
  const rule_screen screen{{made({.match = "uid == \"C1\"", .mask = {"host"}})}, some_key()};
  const auto part = screen.make_part(nullptr);
  for (const std::string_view topic : {"zeek/logs/conn", "zeek/records/conn"}) {
    auto columns = *encode_binary(announcement());
    CHECK(part->passes(topic, columns));
    auto bytes = *encode_binary(conn_record("C1"));
    CHECK(part->passes(topic, bytes));
    CHECK(*decode_binary(bytes) != conn_record("C1"));
    bytes = *encode_binary(conn_record("C2"));
    CHECK(part->passes(topic, bytes));
    CHECK(*decode_binary(bytes) == conn_record("C2"));
  }
}

TEST_CASE("mask: what cannot be masked for sure is dropped") {
  screened with{{made({.match = "bytes > 5", .mask = {"host"}})}};
  CHECK_FALSE(with.passes(conn_record("C1"))); // its column has not been announced
  with.passes(announcement());
  CHECK(with.take(conn_record("C1")) == conn_record("C1")); // does not match
  CHECK(with.take(conn_record("C1", "10.0.0.1", 6)) != conn_record("C1", "10.0.0.1", 6));
  CHECK(with.passes(vector{count{1}})); // of no log: there is no such field
  const auto with_set =
      zeek::make_log_event("conn", vector{"C1", set{*address::parse("10.0.0.1")}, count{6}});
  CHECK_FALSE(with.passes(with_set));
  const auto unset = zeek::make_log_event("conn", vector{"C1", data{}, count{6}});
  CHECK(with.take(unset) == unset);
  CHECK(with.counters().dropped == 2);
}

TEST_CASE("rules are applied one after the other, each to what is left") {
  screened with{{made({.name = "mask", .mask = {"$0"}}),
                 made({.name = "drop", .match = "$0 == \"secret\"", .drop = true}),
                 made({.name = "one", .match = "$1 == 1", .drop = true}),
                 made({.name = "never", .match = "$1 == 1", .drop = true})}};
  CHECK(with.passes(vector{"secret", count{2}}));
  CHECK_FALSE(with.passes(vector{"secret", count{1}}));
  CHECK(with.counters(0).passed == 2);
  CHECK(with.counters(1).matched == 0); // it sees what is masked
  CHECK(with.counters(2).dropped == 1);
  CHECK(with.counters(3).matched == 0);
}

TEST_CASE("rules that follow on others know the columns that were announced") {
  const rule_screen before{{made({.match = "uid == \"C1\"", .drop = true})}};
  auto part = before.make_part(nullptr);
  auto bytes = *encode_binary(announcement());
  CHECK(part->passes(log_topic, bytes));
  const rule_screen after{{made({.match = "host in 10.0.0.0/8", .drop = true})}};
  part = after.make_part(std::move(part));
  bytes = *encode_binary(conn_record("C2"));
  CHECK_FALSE(part->passes(log_topic, bytes));
}

TEST_CASE("bytes that peers have made up never hurt, and stay as valid as they were") {
  screened with{{made({.name = "a", .mask = {"host", "$0", "$"}}),
                 made({.name = "b", .sample = 2, .by = "uid"}),
                 made({.name = "c", .rate_limit = 1e6, .by = "host"}),
                 made({.name = "d", .match = "bytes > 5", .drop = true})}};
  with.passes(announcement());
  const std::vector<data> seeds{conn_record("C1"), announcement(),
                                vector{set{"x"}, table{{"k", "v"}}},
                                vector{data{}, vector{count{1}, "text"}}};
  std::mt19937 random{7};
  int valid = 0;
  for (int round = 0; round < 20'000; ++round) {
    auto bytes = *encode_binary(seeds[random() % seeds.size()]);
    for (auto changes = random() % 3; changes > 0; --changes)
      bytes[random() % bytes.size()] = static_cast<std::byte>(random() % 256);
    bytes.resize(bytes.size() - random() % 2);
    const bool was_valid = data_view::make(bytes).has_value();
    const bool passes = with.part.passes(log_topic, bytes, 0ns, nullptr);
    if (was_valid && passes)
      REQUIRE(data_view::make(bytes).has_value());
    valid += was_valid ? 1 : 0;
  }
  CHECK(valid > 1'000);
  CHECK(valid < 20'000);
}

TEST_CASE("what is wrong with a rule is said") {
  const auto has = [](const std::string& text, std::string_view part) {
    CHECK_MESSAGE(text.find(part) != text.npos, text);
  };
  has(fault({.topics = {"t"}, .drop = true}), "name");
  has(fault({.name = "r", .drop = true}), "topics");
  has(fault({.name = "r", .topics = {"t"}}), "exactly one of");
  has(fault({.name = "r", .topics = {"t"}, .drop = true, .sample = 5}), "exactly one of");
  has(fault({.name = "r", .topics = {"t"}, .match = "a = 1", .drop = true}), "\n  a = 1\n");
  has(fault({.name = "r", .topics = {"t"}, .match = "a = 1", .drop = true}), "^");
  has(fault({.name = "r", .topics = {"t"}, .sample = 0}), "sample: a number");
  has(fault({.name = "r", .topics = {"t"}, .rate_limit = 0.0}), "rate_limit: a number");
  has(fault({.name = "r", .topics = {"t"}, .mask = {"@topic"}}), "mask: '@topic' is no field");
  has(fault({.name = "r", .topics = {"t"}, .drop = true, .by = "uid"}), "by: only");
  has(fault({.name = "r", .topics = {"t"}, .publish = "t/2"}), "copied again");
  has(fault({.name = "r", .topics = {"t"}, .columns = {"a:count"}, .mask = {"b"}}), "b");
}

TEST_CASE("rules are read from tables of a file, and mistakes are named with line and rule") {
  const pubsub::test::temporary_folder folder;
  const auto read = [&](const std::string& text) {
    std::ofstream{folder / "f.toml"} << text;
    return read_rules(folder / "f.toml");
  };
  const auto all = read(R"(
listen = ["127.0.0.1:0"]
[[rule]]
name = "a"
topics = ["zeek/", "x/"]
match = "$0 == 1"
sample = 10
by = "$1"
[[rule]]
name = "b"
topics = "y"
rate_limit = 5
[[rule]]
name = "c"
topics = [""]
mask = ["$0", "$1"]
[[rule]]
name = "d"
topics = ["y"]
publish = "z"
)");
  REQUIRE_MESSAGE(all, all.error().context());
  REQUIRE(all->size() == 4);
  CHECK((*all)[0].action_text() == "sample 10 by $1");
  CHECK((*all)[1].action_text() == "rate_limit 5");
  CHECK((*all)[2].action_text() == "mask $0, $1");
  CHECK((*all)[3].action_text() == "publish z");
  CHECK(read("name = 1")->empty());
  const auto fault_of = [&](const std::string& text) { return read(text).error().context(); };
  CHECK(fault_of("\n[[rule]]\nname='a'\ntopics=['t']\nbrop=true") ==
        (folder / "f.toml") + ":5: rule 'a': brop: a rule has no such key; it has name, topics, "
                              "match, columns, by, and one of publish, drop, sample, rate_limit "
                              "and mask");
  CHECK(fault_of("[[rule]]\nname='a'\ntopics=[]\ndrop=true").find(":3: rule 'a': topics: a list") !=
        std::string::npos);
  CHECK(fault_of("[[rule]]\nname='a'\ntopics=['t']\ndrop=false").find("true is expected") !=
        std::string::npos);
  const auto twice = "[[rule]]\nname='a'\ntopics=['t']\ndrop=true\n";
  CHECK(fault_of(std::string{twice} + twice).find(":5: rule 'a': another rule") !=
        std::string::npos);
  CHECK(fault_of("rule = 5").find("tables [[rule]]") != std::string::npos);
  CHECK(read_rules(folder / "none").error() == errc::cannot_open_file);
}
