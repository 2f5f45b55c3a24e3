// What an endpoint tells Prometheus: the format is kept, and the figures are those of the counters.
// SPDX-License-Identifier: BSD-3-Clause
#include "endpoint/counter_table.hpp"
#include "support/nodes.hpp"
#include "support/published.hpp"
#include "support/raw_socket.hpp"

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

/// What Prometheus would read: values by `name{labels}`. Whatever it would refuse fails the test.
struct scraped {
  explicit scraped(const std::string& text) {
    static const std::regex sample{
        R"re(([a-z_]+)(\{(?:[a-z]+="(?:[^"\\\n]|\\.)*",?)+\})? ([0-9.]+))re"};
    REQUIRE(text.ends_with('\n'));
    std::istringstream lines{text};
    std::string line;
    std::string family;
    while (std::getline(lines, line)) {
      if (line.starts_with("# HELP ")) {
        family = line.substr(7, line.find(' ', 7) - 7);
        CHECK_MESSAGE(families.insert(family).second, line);
        CHECK_MESSAGE(line.size() > 7 + family.size() + 5, line); // it explains something
        continue;
      }
      if (line.starts_with("# TYPE ")) {
        CHECK(line == "# TYPE " + family + (family.ends_with("_total") ? " counter" : " gauge"));
        continue;
      }
      std::smatch parts;
      REQUIRE_MESSAGE(std::regex_match(line, parts, sample), line);
      CHECK_MESSAGE(parts[1] == family, line);
      CHECK_MESSAGE(values.emplace(parts[1].str() + parts[2].str(), std::stod(parts[3])).second,
                    line);
    }
  }
  double value(const std::string& series) const {
    const auto found = values.find(series);
    REQUIRE_MESSAGE(found != values.end(), series);
    return found->second;
  }
  /// Series that begin like this.
  std::ptrdiff_t count(const std::string& begin) const {
    return std::ranges::count_if(values,
                                 [&](const auto& each) { return each.first.starts_with(begin); });
  }

  std::set<std::string> families;
  std::map<std::string, double> values;
};

template <class Counters>
void check_sums(const scraped& x, const std::string& prefix, const Counters& counters) {
  for (const auto& each : counter_table<Counters>) {
    const auto reason = each.reason.empty() ? "" : "{reason=\"" + std::string{each.reason} + "\"}";
    CHECK(x.value(prefix + std::string{each.family} + reason) ==
          static_cast<double>(counters.*each.value));
  }
}

} // namespace

TEST_CASE("metrics tell every counter of an endpoint, of its links and of its subscribers") {
  endpoint a;
  endpoint b;
  join(a, b);
  auto sub = b.make_subscriber({"/t"}, {overflow_policy::drop_oldest, 2, 1000});
  REQUIRE(a.wait_for_subscribers("/t", 1, patience));
  for (std::uint64_t i = 0; i < 5; ++i)
    sent(a.publish("/t", count{i}));
  REQUIRE(a.drain(patience) == 0);
  const scraped x{b.metrics_text()};
  const auto counters = b.counters();
  CHECK(counters.received == 5);
  check_sums(x, "pubsub_", counters);
  check_sums(x, "pubsub_subscribers_", counters.subscribers);
  const auto peer = b.peers().at(0);
  const auto labels = "{peer=\"" + to_string(a.id()) + "\",address=\"" + to_string(*peer.network) +
                      "\",rule=\"\",name=\"" + peer.name + "\"}";
  CHECK(x.value("pubsub_link_received_messages_total" + labels) == 5);
  CHECK(x.value("pubsub_link_up" + labels) == 1);
  CHECK(x.value("pubsub_link_capacity_messages" + labels) == 65'536);
  CHECK(x.value("pubsub_peers{state=\"peered\"}") == 1);
  CHECK(x.value("pubsub_client_peers") == 1);
  CHECK(x.count("pubsub_subscriber_queued_messages{") == 1);
  for (const auto& [series, value] : x.values) {
    if (series.starts_with("pubsub_subscriber_queued_messages{"))
      CHECK(value == 2);
    if (series.starts_with("pubsub_subscriber_dropped_messages_total{") &&
        series.ends_with("topic=\"/t\",reason=\"oldest\"}"))
      CHECK(value == 3);
  }
  CHECK(x.value("pubsub_node_info{id=\"" + to_string(b.id()) + "\",name=\"" + b.name() + "\"}") ==
        1);
  CHECK(x.families.contains("pubsub_uptime_seconds"));
  CHECK(x.value("process_open_fds") > 3);
  CHECK(x.value("process_resident_memory_bytes") > 1e6);
  CHECK(x.value("process_cpu_seconds_total") > 0);
}

TEST_CASE("sums of links do not sink when a link goes, and its own series ends") {
  endpoint a;
  endpoint b;
  join(b, a);
  auto sub = b.make_subscriber({"/t"});
  REQUIRE(a.wait_for_subscribers("/t", 1, patience));
  sent(a.publish("/t", count{1}));
  REQUIRE(a.drain(patience) == 0);
  CHECK(scraped{a.metrics_text()}.count("pubsub_link_up{") == 1);
  b.close();
  REQUIRE(eventually([&] { return a.peers().empty(); }));
  const scraped x{a.metrics_text()};
  CHECK(x.count("pubsub_link_up{") == 0);
  CHECK(x.value("pubsub_links_sent_messages_total") == 1);
}

TEST_CASE("a peer that is away is a link that is down") {
  endpoint ep;
  const auto port = unused_port();
  REQUIRE(ep.peer_async(local_uri(port), {.retry = 20ms}));
  const scraped x{ep.metrics_text()};
  CHECK(x.value("pubsub_link_up{peer=\"\",address=\"127.0.0.1:" + std::to_string(port) +
                "\",rule=\"\",name=\"\"}") == 0);
  CHECK(x.value("pubsub_peers{state=\"connecting\"}") == 1);
}

TEST_CASE("topics of any bytes are labels that Prometheus reads") {
  endpoint ep;
  auto sub = ep.make_subscriber({"a\"b\\c\nd\xff" + std::string(300, 'x')});
  const scraped x{ep.metrics_text()};
  CHECK(x.count("pubsub_subscriber_queued_messages{") == 1);
  CHECK(ep.metrics_text().find("topic=\"a\\\"b\\\\c\\nd\xef\xbf\xbd" + std::string(192, 'x') +
                               "\"}") != std::string::npos);
}

TEST_CASE(
    "however many links and subscribers there are, series are bounded and nothing is left out") {
  endpoint ep;
  std::vector<subscriber> subs;
  for (int i = 0; i < 1100; ++i)
    subs.push_back(ep.make_subscriber({"/t"}, {overflow_policy::block, 10, 1000}));
  for (int i = 0; i < 1200; ++i)
    REQUIRE(ep.peer_async("tcp://127.0.0.1:" + std::to_string(1 + i), {.retry = 1h}));
  sent(ep.publish("/t", count{1}));
  const scraped x{ep.metrics_text()};
  CHECK(x.count("pubsub_link_up{") == 1001);
  CHECK(x.count("pubsub_subscriber_queued_messages{") == 1001);
  const std::string other = "{subscriber=\"other\",topic=\"\"}";
  CHECK(x.value("pubsub_subscriber_queued_messages" + other) == 100);
  CHECK(x.value("pubsub_subscriber_capacity_messages" + other) == 1000);
}

TEST_CASE("many clients are one series") {
  endpoint relay{forwarding_on()};
  const auto port = *relay.listen("tcp://127.0.0.1:0");
  endpoint_options shared_threads;
  shared_threads.io_threads = 0;
  std::vector<std::unique_ptr<endpoint>> clients;
  for (int i = 0; i < 101; ++i) {
    clients.push_back(std::make_unique<endpoint>(shared_threads));
    REQUIRE(clients.back()->peer(local_uri(port)));
    if (i == 99)
      CHECK(scraped{relay.metrics_text()}.count("pubsub_link_up{") == 100);
  }
  const scraped x{relay.metrics_text()};
  CHECK(x.count("pubsub_link_up{") == 1);
  CHECK(x.value("pubsub_link_up{peer=\"clients\",address=\"\",rule=\"\",name=\"\"}") == 101);
}

TEST_CASE("a peer that this endpoint connects to is marked, whoever made the connection") {
  endpoint a{forwarding_on()};
  endpoint b{forwarding_on()};
  join(a, b);
  CHECK(a.peers().at(0).outgoing != b.peers().at(0).outgoing);
}
