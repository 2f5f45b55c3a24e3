#include <flow_monitor/record.hpp>
#include <flow_monitor/record_publisher.hpp>

#include <pubsub/pubsub.hpp>
#include <pubsub/zeek/event.hpp>

#include <doctest/doctest.h>

using namespace flow_monitor;
using namespace std::chrono_literals;

namespace {

constexpr const char* topic = "zeek/records/conn";

conn_record record_with_uid(std::string uid) {
  conn_record r;
  r.uid = std::move(uid);
  return r;
}

// The events published so far. Messages to a subscriber of the same endpoint are there at once.
std::vector<pubsub::zeek::event> events(pubsub::subscriber& subscriber) {
  std::vector<pubsub::zeek::event> result;
  while (const auto message = subscriber.try_get()) {
    auto event = pubsub::zeek::parse_event(pubsub::get_data(*message));
    REQUIRE(event);
    result.push_back(*std::move(event));
  }
  return result;
}

} // namespace

TEST_CASE("the columns are named before the first record, and then once a second") {
  pubsub::endpoint endpoint;
  auto subscriber = endpoint.make_subscriber({topic});
  record_publisher::steady::time_point now{};
  record_publisher publisher{endpoint, topic, [&now] { return now; }};
  publisher.publish(to_values(record_with_uid("C1")));
  now += 999ms;
  publisher.publish(to_values(record_with_uid("C2")));
  now += 1ms;
  publisher.publish(to_values(record_with_uid("C3")));

  const auto seen = events(subscriber);
  REQUIRE(seen.size() == 5);
  CHECK(seen[0].name == "log_fields");
  CHECK(seen[1].name == "log_conn");
  CHECK(seen[2].name == "log_conn");
  CHECK(seen[3].name == "log_fields");
  CHECK(seen[4].name == "log_conn");
  CHECK(publisher.published() == 3);
}

TEST_CASE("the first subscriber to come hears the columns first, however late it is") {
  pubsub::endpoint endpoint;
  record_publisher publisher{endpoint, topic,
                             [] { return record_publisher::steady::time_point{}; }};
  publisher.publish(to_values(record_with_uid("C1")));
  auto subscriber = endpoint.make_subscriber({topic});
  publisher.publish(to_values(record_with_uid("C2")));
  const auto seen = events(subscriber);
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].name == "log_fields");
  CHECK(seen[1].name == "log_conn");
}

TEST_CASE("the events carry path, columns and the record in column order") {
  pubsub::endpoint endpoint;
  auto subscriber = endpoint.make_subscriber({topic});
  record_publisher publisher{endpoint, topic};
  const auto values = to_values(record_with_uid("C1"));
  publisher.publish(values);

  const auto seen = events(subscriber);
  REQUIRE(seen.size() == 2);
  REQUIRE(seen[0].args.size() == 2);
  CHECK(seen[0].args[0] == pubsub::data{"conn"});
  const auto& columns_seen = seen[0].args[1].get<pubsub::vector>();
  REQUIRE(columns_seen.size() == column_count);
  CHECK(columns_seen[2] == pubsub::data{pubsub::vector{"id.orig_h", "addr"}});
  REQUIRE(seen[1].args.size() == 1);
  CHECK(seen[1].args[0] == pubsub::data{values});
}

TEST_CASE("records nobody asked for are counted") {
  pubsub::endpoint endpoint;
  record_publisher publisher{endpoint, topic};
  publisher.publish(to_values(record_with_uid("C1")));
  CHECK(publisher.unwanted() == 1);
  CHECK(publisher.published() == 0);
  endpoint.close();
  publisher.publish(to_values(record_with_uid("C2")));
  CHECK(publisher.published() == 0);
  CHECK(publisher.unwanted() + publisher.dropped() == 2);
}
