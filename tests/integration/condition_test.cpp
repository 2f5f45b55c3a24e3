// Subscribers with a condition: here, over relays, over both versions of the wire; to the message.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/published.hpp"

#include <array>

#include <pubsub/condition.hpp>
#include <pubsub/data_writer.hpp>
#include <pubsub/zeek/event.hpp>
#include <pubsub/zeek/log.hpp>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t numbers_published = 5'000;

condition where(std::string_view text) {
  return *condition::make(text);
}

/// Publishes numbers as values and as encoded bytes.
void publish_numbers(publisher& to) {
  for (std::uint64_t i = 0; i < numbers_published; ++i) {
    if (i % 2 == 0) {
      sent(to.publish(vector{i, "x"}));
      continue;
    }
    data_writer out;
    out.write(vector{i, "x"});
    sent(to.publish(out.bytes()));
  }
}

std::vector<std::uint64_t> read(subscriber& from, std::size_t n) {
  std::vector<std::uint64_t> numbers;
  while (numbers.size() < n) {
    const auto msg = from.get_for(patience);
    REQUIRE(msg);
    numbers.push_back(get<vector>(get_data(*msg)).front().get<count>());
  }
  return numbers;
}

const std::vector<std::uint64_t> tens = [] {
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < numbers_published; i += 10)
    all.push_back(i);
  return all;
}();

/// Fulfilled by every tenth.
std::string every_tenth() {
  std::string text = "$0 in {";
  for (const auto each : tens)
    text += std::to_string(each) + ", ";
  return text + "0}";
}

/// `withheld`: by nodes on the way.
void check_account(const subscriber& sub, std::uint64_t withheld = 0) {
  const auto c = sub.counters();
  CHECK(c.offered + withheld == numbers_published);
  CHECK(c.delivered == tens.size());
  CHECK(c.filtered + withheld == numbers_published - tens.size());
  CHECK(c.dropped() == 0);
  CHECK(c.missed == 0);
  CHECK(adds_up(c));
}

} // namespace

TEST_CASE("published == delivered + dropped + filtered, here and beside others") {
  endpoint ep;
  auto some = ep.make_subscriber({"/t"}, where(every_tenth()));
  auto all = ep.make_subscriber({"/t"});
  auto out = ep.make_publisher("/t/1");
  publish_numbers(out);
  CHECK(read(some, tens.size()) == tens);
  CHECK(read(all, numbers_published).size() == numbers_published);
  check_account(some);
  CHECK(all.counters().filtered == 0);
  CHECK(ep.counters().subscribers.filtered == numbers_published - tens.size());
  CHECK(out.counters().published == numbers_published);
  CHECK(out.counters().dropped == 0);
}

TEST_CASE("published == delivered + dropped + filtered over relays and both versions of the wire") {
  for (const std::uint8_t version : {1, 2}) {
    chain nodes{3, speaking(version)};
    auto some = nodes.back().make_subscriber({"/t"}, where(every_tenth()));
    auto also = nodes.front().make_subscriber({"/t"}, where(every_tenth()));
    auto out = nodes.front().make_publisher("/t/1");
    REQUIRE(out.wait_for_subscribers(2, patience));
    publish_numbers(out);
    CHECK(read(some, tens.size()) == tens);
    CHECK(read(also, tens.size()) == tens);
    const auto withheld = version == 1 ? 0 : numbers_published - tens.size();
    CHECK(eventually([&] { return some.counters().offered + withheld == numbers_published; }));
    check_account(some, withheld);
    check_account(also);
    CHECK(nodes.front().counters().withheld == withheld);
    CHECK(nodes.front().counters().published == numbers_published);
    CHECK(nodes.front().counters().links.sent == numbers_published - withheld);
    CHECK(nodes.all[1]->counters().withheld == 0); // what comes there is wanted
  }
}

TEST_CASE("a subscriber that wants nothing of what comes does not hold up anybody") {
  chain nodes{2};
  queue_options small;
  small.capacity_messages = 4;
  auto none_of_it = nodes.back().make_subscriber({"/t"}, where("$0 == \"no\""), small);
  auto out = nodes.front().make_publisher("/t/1");
  REQUIRE(out.wait_for_subscribers(1, patience));
  publish_numbers(out);
  CHECK(nodes.front().counters().withheld == numbers_published);
  CHECK(out.counters().unwanted == numbers_published);
  CHECK(!none_of_it.try_get());
  CHECK(nodes.front().drain(patience) == 0);
  CHECK(nodes.back().drain(patience) == 0);
}

TEST_CASE("columns that are announced on the topic are known from then on") {
  chain nodes{2};
  auto https = nodes.back().make_subscriber({"zeek/records/"}, where("id.resp_p == 443/tcp"));
  auto out = nodes.front().make_publisher(zeek::log_topic("conn"));
  REQUIRE(out.wait_for_subscribers(1, patience));
  const auto record = [](std::uint16_t number) {
    return zeek::make_log_event("conn", vector{"C1", port{number, transport::tcp}});
  };
  sent(out.publish(record(443))); // too early
  zeek::log_schema schema;
  schema.path = "conn";
  schema.fields = {{"uid", "string"}, {"id.resp_p", "port"}};
  sent(out.publish(zeek::make_log_fields_event(schema)));
  sent(out.publish(record(80)));
  sent(out.publish(record(443)));
  const auto first = https.get_for(patience);
  REQUIRE(first);
  CHECK(zeek::parse_event(get_data(*first))->name == "log_fields");
  const auto second = https.get_for(patience);
  REQUIRE(second);
  CHECK(get_data(*second) == record(443));
  CHECK(https.counters().filtered == 1); // where it was published the columns were not known
  CHECK(nodes.front().counters().withheld == 1);
}

TEST_CASE("a relay passes on what one of the subscribers behind it wants, and each gets its own") {
  endpoint relay{forwarding_on()};
  std::array<endpoint, 3> clients;
  for (auto& each : clients)
    join(each, relay);
  auto out = clients[0].make_publisher("/t/1");
  auto tens_only = clients[1].make_subscriber({"/t"}, where(every_tenth()));
  auto few = clients[2].make_subscriber({"/t"}, where("$0 < 100"));
  REQUIRE(out.wait_for_subscribers(2, patience));
  publish_numbers(out);
  CHECK(read(tens_only, tens.size()) == tens);
  CHECK(read(few, 100).back() == 99);
  CHECK(tens_only.counters().offered == tens.size());
  CHECK(few.counters().offered == 100);
  const auto either = tens.size() + 90; // below 100 every tenth is wanted by both
  CHECK(relay.counters().received == either);
  CHECK(relay.counters().withheld == 2 * either - tens.size() - 100);
  CHECK(clients[0].counters().withheld == numbers_published - either);
}

TEST_CASE("a publisher that is a client hears of each condition that comes and goes") {
  endpoint relay{forwarding_on()};
  endpoint from;
  endpoint to;
  join(from, relay);
  join(to, relay);
  auto out = from.make_publisher("/t");
  const auto withheld_of_three = [&] {
    const auto before = from.counters().withheld;
    for (const auto* each : {"a", "b", "c"})
      sent(out.publish(data{each}));
    return from.counters().withheld - before;
  };
  auto a = to.make_subscriber({"/t"}, where("$ == \"a\""));
  REQUIRE(out.wait_for_subscribers(1, patience));
  CHECK(withheld_of_three() == 2);
  {
    auto b = to.make_subscriber({"/t"}, where("$ == \"b\""));
    REQUIRE(b.wait_ready(patience));
    CHECK(withheld_of_three() == 1);
    CHECK(get_data(*b.get_for(patience)) == data{"b"}); // and all before it has come
    auto all = relay.make_subscriber({"/t"});
    REQUIRE(all.wait_ready(patience));
    CHECK(withheld_of_three() == 0);
    for (const auto* each : {"a", "b", "c"})
      CHECK(get_data(*all.get_for(patience)) == data{each});
    CHECK(get_data(*b.get_for(patience)) == data{"b"});
  }
  CHECK(eventually([&] { return withheld_of_three() == 2; }));
  CHECK(get_data(*a.get_for(patience)) == data{"a"});
}

TEST_CASE("who wants everything gets it, beside and after those with conditions") {
  chain nodes{3};
  auto out = nodes.front().make_publisher("/t/1");
  auto some = nodes.back().make_subscriber({"/t"}, where(every_tenth()));
  REQUIRE(out.wait_for_subscribers(1, patience));
  publish_numbers(out);
  CHECK(read(some, tens.size()) == tens);
  auto all = nodes.back().make_subscriber({"/t/1"});
  REQUIRE(all.wait_ready(patience));
  publish_numbers(out);
  CHECK(read(all, numbers_published).front() == 0);
  CHECK(read(some, tens.size()) == tens);
  CHECK(all.counters().missed == 0);
  CHECK(nodes.front().counters().withheld ==
        numbers_published - tens.size()); // of the first part only
  all.close();
  CHECK(eventually([&] {
    const auto before = nodes.front().counters().withheld;
    sent(out.publish(vector{1U, "x"}));
    return nodes.front().counters().withheld > before;
  }));
}

TEST_CASE("a node that cannot read a condition sends everything, and the subscriber decides") {
  const auto matcher = [](std::string_view text) -> expected<std::shared_ptr<const text_matcher>> {
    struct whole_text final : text_matcher {
      explicit whole_text(std::string_view x) : text(x) {}
      bool matches(std::string_view x) const noexcept override { return x == text; }
      std::string text;
    };
    return std::shared_ptr<const text_matcher>{std::make_shared<const whole_text>(text)};
  };
  for (const bool reads : {false, true}) {
    endpoint_options options;
    options.forwarding = forwarding::on;
    options.regex = reads ? +matcher : nullptr;
    chain nodes{2, options};
    auto some =
        nodes.back().make_subscriber({"/t"}, *condition::make("$ in /yes/", {.regex = +matcher}));
    REQUIRE(nodes.front().wait_for_subscribers("/t", 1, patience));
    sent(nodes.front().publish("/t", data{"no"}));
    sent(nodes.front().publish("/t", data{"yes"}));
    const auto first = some.get_for(patience);
    REQUIRE(first);
    CHECK(get_data(*first) == data{"yes"});
    CHECK(nodes.front().counters().withheld == (reads ? 1 : 0));
    CHECK(some.counters().filtered == (reads ? 0 : 1));
  }
}

TEST_CASE("a callback gets what fulfils the condition of its stream") {
  endpoint ep;
  std::atomic<std::uint64_t> sum{0};
  auto flow = ep.subscribe(
      {"/t"}, [&](const data_message& msg) { sum += get<count>(get_data(msg)); }, where("$ > 8"));
  for (std::uint64_t i = 0; i < 11; ++i)
    sent(ep.publish("/t", data{i}));
  CHECK(eventually([&] { return sum == 19; }));
  CHECK(eventually([&] { return flow.messages() == 2; }));
}

TEST_CASE("status and metrics show the condition and what it has filtered") {
  endpoint ep;
  auto sub = ep.make_subscriber({"/t"}, where("$ == \"x\""));
  sent(ep.publish("/t", data{1U}));
  CHECK(ep.status_text().find(R"("where":"$ == \"x\"")") != std::string::npos);
  CHECK(ep.status_text().find(R"("filtered":1)") != std::string::npos);
  CHECK(ep.metrics_text().find("pubsub_subscribers_filtered_messages_total 1") !=
        std::string::npos);
}
