// SPDX-License-Identifier: BSD-3-Clause
#include "filter/message_selector.hpp"
#include "support/allocations.hpp"

#include <pubsub/binary.hpp>
#include <pubsub/condition.hpp>
#include <pubsub/zeek/event.hpp>
#include <pubsub/zeek/log.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace pubsub;
using namespace std::chrono_literals;

namespace {

condition_verdict judge(std::string_view text, const data& value,
                        const condition_options& options = {},
                        std::string_view topic = "zeek/records/conn") {
  const auto made = condition::make(text, options);
  REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().context()));
  return made->judge(topic, *encode_binary(value));
}

bool holds(std::string_view text, const data& value, const condition_options& options = {}) {
  return judge(text, value, options) == condition_verdict::yes;
}

const std::vector<record_column> conn_columns{
    {"ts", "time"},    {"uid", "string"},      {"id.orig_h", "addr"},    {"id.resp_p", "port"},
    {"proto", "enum"}, {"service", "string"},  {"duration", "interval"}, {"orig_bytes", "count"},
    {"local", "bool"}, {"tags", "set[string]"}};

data conn() {
  return zeek::make_log_event("conn",
                              vector{timestamp{1700000000s}, "CUID1", *address::parse("10.1.2.3"),
                                     port{443, transport::tcp}, enum_value{"tcp"}, none{},
                                     timespan{1500ms}, count{2000}, true, set{"a", "http"}});
}

condition_options conn_options() {
  condition_options options;
  options.columns = conn_columns;
  return options;
}

} // namespace

TEST_CASE("a condition names columns of records") {
  const auto options = conn_options();
  CHECK(holds("id.resp_p == 443/tcp && orig_bytes > 1000 && id.orig_h in 10.0.0.0/8", conn(),
              options));
  CHECK(judge("id.resp_p == 80/tcp || orig_bytes < 2000", conn(), options) ==
        condition_verdict::no);
  CHECK(holds("uid in \"CU\"* && proto == tcp && local == true", conn(), options));
  CHECK(holds("duration in 1s..2s && ts >= 2023-11-14T22:13:20Z", conn(), options));
  CHECK(holds("tags has \"http\" && !(tags has {\"b\", \"c\"})", conn(), options));
  CHECK(holds("exists(orig_bytes) && !exists(service)", conn(), options));
  CHECK(holds("id.orig_h in {192.168.0.0/16, 10.1.2.0/24}", conn(), options));
  CHECK(holds("id.orig_h in 10.1.0.0..10.1.255.255", conn(), options));
}

TEST_CASE("what is not there makes no answer, neither yes nor its negation") {
  const auto options = conn_options();
  for (const auto* text : {"service == \"http\"", "service != \"http\"",
                           "!(service in {\"a\", \"b\"})", "service < \"x\"", "1 in 1 by service"})
    CHECK(judge(text, conn(), options) == condition_verdict::absent);
  CHECK(judge("service == \"x\" && local == false", conn(), options) == condition_verdict::no);
  CHECK(judge("service == \"x\" || local == true", conn(), options) == condition_verdict::yes);
  CHECK(judge("service == \"x\" || local == false", conn(), options) == condition_verdict::absent);
  const vector plain{count{1}, "x", vector{count{7}, none{}}};
  CHECK(judge("$5 == 1", plain) == condition_verdict::absent);
  CHECK(judge("$0 == \"x\"", plain) == condition_verdict::absent);
  CHECK(judge("$2 == 1", plain) == condition_verdict::absent);
  CHECK(judge("exists($2)", plain) == condition_verdict::yes);
  CHECK(judge("exists($2.1)", plain) == condition_verdict::no);
  CHECK(judge("exists($9)", plain) == condition_verdict::no);
  CHECK(judge("$2.0 == 7", plain) == condition_verdict::yes);
  CHECK(judge("$0.0 == 7", plain) == condition_verdict::absent);
  CHECK(judge("$0 == 1", data{count{1}}) == condition_verdict::absent);
  CHECK(judge("@event == \"x\"", plain) == condition_verdict::absent);
  CHECK(judge("@topic.3 == \"x\"", plain) == condition_verdict::absent);
  CHECK(judge("$ > 1", data{std::nan("")}) == condition_verdict::absent);
}

TEST_CASE("unknown columns answer unknown, and no decided part is changed by them") {
  CHECK(judge("a == 1", conn()) == condition_verdict::unknown);
  CHECK(judge("!(a == 1)", conn()) == condition_verdict::unknown);
  CHECK(judge("exists(a)", conn()) == condition_verdict::unknown);
  CHECK(judge("a == 1 && @size < 5", conn()) == condition_verdict::no);
  CHECK(judge("a == 1 || @size > 5", conn()) == condition_verdict::yes);
  CHECK(judge("a == 1 && $99 == 1", conn()) == condition_verdict::unknown);
  CHECK(judge("$99 == 1 || a == 1", conn()) == condition_verdict::unknown);
  const auto no = *condition::make("a == 1");
  CHECK(!no.passes(condition_verdict::unknown));
  const auto yes = *condition::make("a == 1", {.unknown = if_unknown::yes});
  CHECK(yes.passes(condition_verdict::unknown));
  CHECK(!yes.passes(condition_verdict::absent));
  CHECK(!(no == yes));
}

TEST_CASE("numbers of all types compare by their exact values") {
  CHECK(holds("$ == 5", data{count{5}}));
  CHECK(holds("$ == 5", data{integer{5}}));
  CHECK(holds("$ == 5", data{5.0}));
  CHECK(holds("$ == 5.0", data{count{5}}));
  CHECK(holds("$ < 0", data{integer{-1}}));
  CHECK(!holds("$ < 0", data{count{~std::uint64_t{0}}}));
  CHECK(holds("$ == 18446744073709551615", data{~std::uint64_t{0}}));
  CHECK(!holds("$ == 18446744073709551615", data{18446744073709551616.0}));
  CHECK(holds("$ > 18446744073709551615", data{18446744073709551616.0}));
  CHECK(!holds("$ == 9007199254740993", data{9007199254740992.0}));
  CHECK(holds("$ < -9223372036854775808", data{-1e300}));
  CHECK(holds("$ > 1", data{std::numeric_limits<double>::infinity()}));
  CHECK(holds("$ in {1, 2.5, 7}", data{2.5}));
  CHECK(holds("$ == 0", data{-0.0}));
}

TEST_CASE("ports of different protocols are unequal and have no order") {
  const data port_value{port{443, transport::udp}};
  CHECK(judge("$ == 443/tcp", port_value) == condition_verdict::no);
  CHECK(judge("$ != 443/tcp", port_value) == condition_verdict::yes);
  CHECK(judge("$ < 500/tcp", port_value) == condition_verdict::absent);
  CHECK(judge("$ in 1/tcp..500/tcp", port_value) == condition_verdict::absent);
  CHECK(judge("$ in {1/tcp..500/tcp, 1/udp..500/udp}", port_value) == condition_verdict::yes);
  CHECK(judge("$ in 1/udp..442/udp", port_value) == condition_verdict::no);
}

TEST_CASE("addresses and subnets lie in subnets") {
  CHECK(holds("$ in 10.0.0.0/8", data{*address::parse("10.255.0.1")}));
  CHECK(!holds("$ in 10.0.0.0/9", data{*address::parse("10.255.0.1")}));
  CHECK(!holds("$ in 10.0.0.0/8", data{*address::parse("::a00:1")}));
  CHECK(holds("$ in 2001:db8::/33", data{*address::parse("2001:db8:7fff::1")}));
  CHECK(!holds("$ in 2001:db8::/33", data{*address::parse("2001:db8:8000::1")}));
  CHECK(holds("$ in ::/0", data{*address::parse("10.0.0.1")}));
  CHECK(holds("$ in 10.0.0.0/8", data{*subnet::parse("10.1.0.0/16")}));
  CHECK(!holds("$ in 10.1.0.0/16", data{*subnet::parse("10.0.0.0/8")}));
  CHECK(holds("$ == 10.0.0.0/8", data{*subnet::parse("10.0.0.0/8")}));
  CHECK(judge("$ == 10.0.0.0/8", data{*address::parse("10.0.0.1")}) == condition_verdict::absent);
}

TEST_CASE("events, topics and sizes can be asked for") {
  const auto event = zeek::make_event("Site::seen", vector{count{3}, "x"});
  CHECK(holds("@event == \"Site::seen\" && $0 == 3 && $1 == \"x\"", event));
  CHECK(holds("@topic == \"zeek/records/conn\" && @topic.2 == \"conn\"", event));
  CHECK(holds("@topic in \"zeek/\"* && @topic.0 in {\"zeek\", \"x\"}", event));
  CHECK(holds("@size == " + std::to_string(encode_binary(event)->size()), event));
  CHECK(holds("$ has 7 && !($ has 8)", data{set{count{7}, count{9}}}));
  CHECK(holds("$ has \"k\"", data{table{{"k", count{1}}, {"l", count{2}}}}));
  CHECK(!holds("$ has 1", data{table{{"k", count{1}}}}));
  CHECK(judge("$ has 1", data{count{1}}) == condition_verdict::absent);
}

TEST_CASE("samples by a field keep all messages with one value of it") {
  const auto tenth = *condition::make("1 in 10 by $0");
  int kept = 0;
  for (int i = 0; i < 10'000; ++i) {
    const auto name = "C" + std::to_string(i);
    const auto first = tenth.judge("t", *encode_binary(vector{name, count{1}}));
    CHECK(first == tenth.judge("u", *encode_binary(vector{name, "other"})));
    kept += first == condition_verdict::yes ? 1 : 0;
  }
  CHECK(kept > 800);
  CHECK(kept < 1200);
  CHECK(holds("3 in 3 by $0", vector{count{1}}));
  CHECK(holds("1 in 1", vector{count{1}}));
}

TEST_CASE("who is in a sample stays the same in every version") {
  std::vector<int> kept; // the figures come from a model in another language
  for (int i = 0; i < 20; ++i)
    if (holds("1 in 7 by $0", vector{"C" + std::to_string(i)}))
      kept.push_back(i);
  CHECK(kept == std::vector<int>{5, 14});
}

TEST_CASE("a sample does not depend on how a peer has encoded a value") {
  for (int n = 2; n < 9; ++n) {
    const auto made = *condition::make("1 in " + std::to_string(n) + " by $0");
    auto bytes = *encode_binary(vector{true});
    const auto usual = made.judge("t", bytes);
    bytes.back() = std::byte{0x0b}; // true as well
    CHECK(made.judge("t", bytes) == usual);
  }
}

TEST_CASE("large sets are searched, not walked through") {
  std::string text = "$ in {";
  for (int i = 0; i < 9'000; ++i)
    text += std::to_string(3 * i) + ",";
  text += "1000000}";
  CHECK(holds(text, data{count{26'997}}));
  CHECK(!holds(text, data{count{26'998}}));
  CHECK(holds(text, data{1'000'000.0}));
}

TEST_CASE("bytes that end early, or are no value, are unreadable where they are looked at") {
  const auto made = *condition::make("orig_bytes > 1000", conn_options());
  const auto whole = *encode_binary(conn());
  REQUIRE(made.judge("t", whole) == condition_verdict::yes);
  std::size_t needed = whole.size();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    // On the heap, so that a sanitizer sees every byte read beyond them.
    const std::vector<std::byte> part(whole.begin(),
                                      whole.begin() + static_cast<std::ptrdiff_t>(size));
    const auto answer = made.judge("t", part);
    if (answer == condition_verdict::yes)
      needed = std::min(needed, size);
    else
      CHECK(answer == condition_verdict::unreadable);
  }
  CHECK(needed < whole.size()); // what is behind the column does not matter
  CHECK(made.passes(condition_verdict::unreadable));
  CHECK(condition::make("$0 == 1")->judge("t", std::vector<std::byte>(1, std::byte{99})) ==
        condition_verdict::unreadable);
}

TEST_CASE("values nested deeply, and many of them, neither exhaust the stack nor stall") {
  std::vector<std::byte> deep;
  for (const auto byte : {14, 2})
    deep.push_back(static_cast<std::byte>(byte));
  for (int i = 0; i < 200'000; ++i)
    for (const auto byte : {14, 1})
      deep.push_back(static_cast<std::byte>(byte));
  deep.insert(deep.end(), 2, std::byte{0});
  CHECK(condition::make("$1 == 1")->judge("t", deep) == condition_verdict::unknown);
  CHECK(judge("$1 == 1", vector{vector(70'000, data{none{}}), count{1}}) ==
        condition_verdict::unknown);
  CHECK(judge("$1 == 1", vector{vector(60'000, data{none{}}), count{1}}) == condition_verdict::yes);
}

TEST_CASE("many patterns for many values are too much work, and answer unknown") {
  std::string text = "$ has {";
  for (int i = 0; i < 5'000; ++i)
    text += "\"x" + std::to_string(i) + "\"*, ";
  text += "\"y\"*}";
  CHECK(judge(text, vector(4, data{"y"})) == condition_verdict::yes);
  CHECK(judge(text, vector(4, data{"z"})) == condition_verdict::no);
  CHECK(judge(text, vector(40, data{"z"})) == condition_verdict::unknown);
}

TEST_CASE("announcements of many columns, or with long paths, are not learnt") {
  message_selector selector{*condition::make("n == 1")};
  const auto record = [](const std::string& path) {
    return *encode_binary(zeek::make_log_event(path, vector{count{1}}));
  };
  for (const std::size_t size : {10, 300}) {
    zeek::log_schema schema;
    schema.path = std::string(size, 'p');
    schema.fields = {{"n", "count"}};
    CHECK(selector.wants("t", *encode_binary(zeek::make_log_fields_event(schema))));
    CHECK(selector.wants("t", record(schema.path)) == (size == 10));
  }
  zeek::log_schema wide;
  wide.path = "wide";
  wide.fields.resize(1025, {"n", "count"});
  CHECK(selector.wants("t", *encode_binary(zeek::make_log_fields_event(wide))));
  CHECK(!selector.wants("t", record("wide")));
}

TEST_CASE("a condition is evaluated without allocating") {
  const auto made = *condition::make(
      "id.resp_p == 443/tcp && (uid in {\"CU\"*, \"x\"} || 1 in 2 by uid) && tags has \"http\"",
      conn_options());
  const auto bytes = *encode_binary(conn());
  const auto before = test::allocations();
  const auto answer = made.judge("zeek/records/conn", bytes);
  CHECK(test::allocations() == before);
  CHECK(answer == condition_verdict::yes);
}

TEST_CASE("a subscriber learns the columns that are announced, and gets the announcements") {
  message_selector selector{*condition::make("orig_bytes > 1000")};
  const std::string topic = "zeek/records/conn";
  const auto record = *encode_binary(conn());
  CHECK(!selector.wants(topic, record));
  zeek::log_schema schema;
  schema.path = "conn";
  for (const auto& each : conn_columns)
    schema.fields.push_back({each.name, each.type});
  CHECK(selector.wants(topic, *encode_binary(zeek::make_log_fields_event(schema))));
  CHECK(selector.wants(topic, record));
  CHECK(!selector.wants("zeek/records/other", record));
  std::swap(schema.fields[7], schema.fields[6]); // now an interval is where the count was
  CHECK(selector.wants(topic, *encode_binary(zeek::make_log_fields_event(schema))));
  CHECK(!selector.wants(topic, record));
  schema.fields[6].type = "string"; // what the condition cannot compare is not its column
  CHECK(selector.wants(topic, *encode_binary(zeek::make_log_fields_event(schema))));
  CHECK(!selector.wants(topic, record));
}

TEST_CASE("a condition that names no column does not let announcements pass") {
  message_selector selector{*condition::make("@event == \"log_conn\"")};
  CHECK(!selector.wants(
      "t", *encode_binary(zeek::make_log_fields_event(zeek::log_schema{"conn", {}, 0}))));
  CHECK(selector.wants("t", *encode_binary(conn())));
}
