// SPDX-License-Identifier: BSD-3-Clause
#include "access/access.hpp"
#include "access/rate_limit.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace std::chrono_literals;

namespace {

const std::string test_token = "sha256:" + std::string(64, 'a');

const access_rules rules{
    {.name = "sensors", .certificates = {"*.sensors.example.org", "desk"}},
    {.name = "root", .users = {"root", "0"}},
    {.name = "any certificate", .certificates = {"*"}},
    {.name = "guests", .anonymous = true},
};

std::string rule_for(const peer_identity& who, const access_rules& all = rules) {
  const auto found = find_access(all, who);
  return found ? found->name : "none";
}

peer_identity named(std::vector<std::string> names) {
  return {.subject = "CN=x", .names = std::move(names)};
}

error failure_of(std::string_view toml) {
  const auto read = parse_access_rules(toml);
  REQUIRE_FALSE(read.has_value());
  return read.error();
}

} // namespace

TEST_CASE("a rule is for the names, users and strangers that it says") {
  CHECK(rule_for(named({"a.sensors.example.org"})) == "sensors");
  CHECK(rule_for(named({"other", "B.C.Sensors.Example.ORG"})) == "sensors");
  CHECK(rule_for(named({"desk"})) == "sensors");
  CHECK(rule_for(named({"sensors.example.org"})) == "any certificate");
  CHECK(rule_for(named({"evil-sensors.example.org"})) == "any certificate");
  CHECK(rule_for(named({"desk.example.org"})) == "any certificate");
  CHECK(rule_for(named({"root"})) == "any certificate"); // no user
  CHECK(rule_for({.user = "root", .uid = "0"}) == "root");
  CHECK(rule_for({.user = "", .uid = "0"}) == "root");
  CHECK(rule_for({.user = "zeek", .uid = "1000"}) == "none");
  CHECK(rule_for({.user = "desk", .uid = "1001"}) == "none");
  CHECK(rule_for({}) == "guests");
  CHECK(rule_for(named({})) == "none"); // a certificate without names is no stranger
  CHECK(rule_for({}, {}) == "none");
}

TEST_CASE("a token is one of a rule, or who shows it is refused") {
  const access_rules all{{.name = "sensors", .tokens = {test_token}},
                         {.name = "guests", .anonymous = true}};
  CHECK(rule_for({.token = test_token}, all) == "sensors");
  CHECK(rule_for({.token = "sha256:" + std::string(64, 'b')}, all) == "none");
  CHECK(rule_for({}, all) == "guests");
  CHECK(check(all));
  for (const auto& wrong : {std::string{"secret"}, std::string{"sha256:aa"},
                            "sha256:" + std::string(64, 'A'), test_token + "a"})
    CHECK_FALSE(check(access_rules{{.name = "x", .tokens = {wrong}}}));
}

TEST_CASE("topics of a rule are prefixes, and without any there is no restriction") {
  auto rule = std::make_shared<access_rule>();
  CHECK(may_publish(nullptr, "/x"));
  CHECK(may_publish(rule, "/x"));
  CHECK(may_subscribe(rule, ""));
  rule->publish = filter{"/in/"};
  rule->subscribe = filter{"/out/"};
  CHECK(may_publish(rule, "/in/x"));
  CHECK_FALSE(may_publish(rule, "/in"));
  CHECK(may_receive(rule, "/out/x"));
  CHECK_FALSE(may_receive(rule, "/in/x"));
  CHECK(may_subscribe(rule, "/out/x/y"));
  CHECK(may_subscribe(rule, "/")); // of which it gets a part
  CHECK_FALSE(may_subscribe(rule, "/other"));
  rule->publish = filter{};
  CHECK_FALSE(may_publish(rule, "/in/x"));
}

TEST_CASE("what is faster than a rate has to wait, and a debt is paid in full") {
  rate_limit rate;
  auto now = rate_limit::time{} + 1h;
  CHECK(rate.take(1'000'000, now) == 0s); // without a limit
  rate.set(1'000);
  CHECK(rate.take(100, now) == 0s); // what a tenth of a second gives
  CHECK(rate.take(500, now) == 500ms);
  now += 500ms;
  CHECK(rate.take(1, now) == 1ms);
  now += 1h; // nothing is saved up beyond a tenth of a second
  CHECK(rate.take(100, now) == 0s);
  CHECK(rate.take(1, now) == 1ms);
}

TEST_CASE("rules are read from TOML as they are written there") {
  const auto read = parse_access_rules(R"(
[[rule]]
name = "sensors"
certificates = ["*.example.org"]
users = ["zeek", "1000"]
tokens = ["sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]
role = "relay"
publish = ["/zeek/", "/out"]
subscribe = []
[rule.limits]
messages_per_second = 1
bytes_per_second = 2
subscriptions = 3
topics = 4
queued_bytes = 5
connections = 6

[[rule]]
name = "guests"
anonymous = true
)");
  if (!read && read.error() == errc::not_supported)
    return;
  REQUIRE_MESSAGE(read.has_value(), read.error().context());
  const access_rule sensors{.name = "sensors",
                            .certificates = {"*.example.org"},
                            .users = {"zeek", "1000"},
                            .tokens = {test_token},
                            .anonymous = false,
                            .relay = true,
                            .publish = filter{"/zeek/", "/out"},
                            .subscribe = filter{},
                            .limits = {1, 2, 3, 4, 5, 6}};
  CHECK(*read == access_rules{sensors, {.name = "guests", .anonymous = true}});
  CHECK(parse_access_rules("")->empty());
}

TEST_CASE("what is no rule is refused with its place") {
  if (const auto read = parse_access_rules(""); !read)
    return; // a build without toml++
  CHECK(failure_of("[[rule").context().starts_with("line 1, column "));
  CHECK(failure_of("\n\nrule = 1").context() ==
        "line 3, column 8: there are tables [[rule]] here, and nothing else");
  CHECK(failure_of("[[rule]]\nname = 'x'\nanonymous = 1").context() ==
        "line 3, column 13: anonymous is true or false");
  CHECK(failure_of("[[rule]]\nname = 'x'\nanonymous = true\npublish = ['/a', 1]").context() ==
        "line 4, column 18: publish is a list of strings");
  CHECK(failure_of("[[rule]]\nname = 'x'\nanonymous = true\nlimits = { topics = 1.5 }").context() ==
        "line 4, column 21: topics is a whole number");
  CHECK(failure_of("[[rule]]\nname = 'x'\nanonymous = true\nlimits = { topic = 1 }").context() ==
        "line 4, column 20: there is no 'topic' here");
  CHECK(failure_of("[[rule]]\nanonymous = true") == errc::invalid_argument);
  CHECK(failure_of("[[rule]]\nname = 'x'").context().find("is for nobody") != std::string::npos);
  CHECK(read_access_rules("/nowhere/access.toml").error() == errc::cannot_open_file);
}
