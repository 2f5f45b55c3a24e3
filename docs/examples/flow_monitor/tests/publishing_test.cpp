// A capture file through the whole monitor and over a link: what a subscriber gets is what the log
// says.

#include <flow_monitor/monitor.hpp>
#include <flow_monitor/record_publisher.hpp>
#include <flow_monitor/zeek_log.hpp>

#include <pubsub/pubsub.hpp>
#include <pubsub/zeek/event.hpp>

#include "zeek_logs/log_reader.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

using namespace flow_monitor;
using namespace std::chrono_literals;

namespace {

constexpr const char* topic = "zeek/records/conn";
constexpr const char* sample = FLOW_MONITOR_CAPTURE;

std::vector<conn_record> records_of(const char* path) {
  auto source = capture::open_file(path);
  REQUIRE(source);
  std::vector<conn_record> records;
  monitor m{*source,
            {},
            [&](const conn_record& r) {
              records.push_back(r);
              return true;
            },
            [](const std::string& complaint) { FAIL(complaint); }};
  while (m.step() != progress::done) {
  }
  m.finish();
  return records;
}

} // namespace

TEST_CASE("the sample capture holds the services and outcomes it was recorded for") {
  std::map<std::string, int> services;
  std::map<std::string, int> states;
  std::set<std::string> uids;
  int version_6 = 0;
  for (const auto& r : records_of(sample)) {
    ++services[r.service];
    ++states[r.conn_state];
    uids.insert(r.uid);
    version_6 += r.orig_h.is_v4() ? 0 : 1;
    CHECK(r.missed_bytes == 0);
    CHECK(r.orig_ip_bytes >= r.orig_bytes.value_or(0));
    CHECK(r.resp_ip_bytes >= r.resp_bytes.value_or(0));
  }
  CHECK(uids.size() == records_of(sample).size());
  CHECK(version_6 > 0);
  for (const auto* service : {"http", "dns", "smtp", "ssl", "ssh"})
    CHECK(services[service] > 0);
  for (const auto* state : {"SF", "S0", "REJ", "RSTO"})
    CHECK(states[state] > 0);
}

TEST_CASE("a subscriber on another node gets the columns, then every record in order") {
  pubsub::endpoint monitor_node;
  pubsub::endpoint reader_node;
  const auto port = monitor_node.listen("tcp://127.0.0.1:0");
  REQUIRE(port);
  auto subscriber = reader_node.make_subscriber({topic});
  REQUIRE(reader_node.peer("tcp://127.0.0.1:" + std::to_string(*port)));
  record_publisher publisher{monitor_node, topic};
  REQUIRE(publisher.channel().wait_for_subscribers(1, 10s));

  const auto records = records_of(sample);
  for (const auto& r : records)
    publisher.publish(to_values(r));
  CHECK(publisher.published() == records.size());

  std::vector<pubsub::vector> received;
  bool has_columns = false;
  while (received.size() < records.size()) {
    const auto message = subscriber.get_for(10s);
    REQUIRE(message.has_value());
    const auto event = pubsub::zeek::parse_event(pubsub::get_data(*message));
    REQUIRE(event);
    if (event->name == "log_fields") {
      has_columns = true;
      continue;
    }
    CHECK(has_columns);
    CHECK(event->name == "log_conn");
    received.push_back(event->args.at(0).get<pubsub::vector>());
  }
  for (std::size_t i = 0; i < records.size(); ++i)
    CHECK(pubsub::data{received[i]} == pubsub::data{to_values(records[i])});
}

TEST_CASE("the log read back holds the values that were written") {
  std::string directory = (std::filesystem::temp_directory_path() / "flow-monitor-XXXXXX").string();
  REQUIRE(::mkdtemp(directory.data()) != nullptr);
  const auto path = directory + "/conn.log";
  const auto records = records_of(sample);
  auto log = zeek_log::open(path, pubsub::now());
  REQUIRE(log);
  for (const auto& r : records)
    REQUIRE(log->write(to_values(r)));
  REQUIRE(log->close(pubsub::now()));

  auto reader = pubsub::zeek::log_reader::open(path);
  REQUIRE(reader);
  for (const auto& r : records) {
    const auto line = reader->next();
    REQUIRE(line);
    REQUIRE(line->has_value());
    auto expected = to_values(r);
    // The log keeps microseconds, the event nanoseconds.
    expected[0] = pubsub::timestamp{std::chrono::floor<std::chrono::microseconds>(r.ts)};
    if (r.duration)
      expected[8] = pubsub::timespan{std::chrono::floor<std::chrono::microseconds>(*r.duration)};
    CHECK(pubsub::data{(*line)->values} == pubsub::data{expected});
  }
  CHECK(reader->schema().path == "conn");
  std::filesystem::remove_all(directory);
}
