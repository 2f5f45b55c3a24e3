// Sinks and sources of Kafka as integration tests open them, and what these pass through them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/kafka_cluster.hpp"
#include "support/nodes.hpp"
#include "support/published.hpp"

#include <pubsub/binary.hpp>
#include <pubsub/bridge/sink.hpp>
#include <pubsub/bridge/source.hpp>
#include <pubsub/pattern/pipeline.hpp>
#include <pubsub/zeek/log.hpp>
#include <pubsub/zeek/log_batch.hpp>

#include <map>
#include <set>

namespace pubsub::test {

using bridge::payload_format;
using bridge::sink;
using bridge::sink_options;
using bridge::source;
using bridge::source_options;

inline bool adds_up(const bridge::bridge_counters& x) {
  return x.consumed == x.delivered + x.rejected.total() + x.in_flight;
}

inline sink open_sink(const endpoint& at, const bridge::kafka& to, const sink_options& options) {
  auto result = sink::open(at, to, options);
  REQUIRE_MESSAGE(result, result.error().message());
  return std::move(*result);
}

inline source open_source(const endpoint& at, const bridge::kafka& from,
                          const source_options& options) {
  auto result = source::open(at, from, options);
  REQUIRE_MESSAGE(result, result.error().message());
  return std::move(*result);
}

inline sink_options messages_on(const std::string& topic,
                                payload_format format = payload_format::binary) {
  sink_options result;
  result.topics = {topic};
  result.format = format;
  return result;
}

/// Values alone: no keys, no headers.
inline sink_options bare_messages_on(const std::string& topic) {
  auto result = messages_on(topic);
  result.headers = false;
  result.key = "none";
  return result;
}

/// Most are small; some are larger than what librdkafka copies into a request (64 KiB).
inline data value_of_some_size(std::uint64_t i) {
  return data{std::to_string(i) +
              std::string(i % 50 == 0 ? 100'000 : i % 50, static_cast<char>('a' + i % 26))};
}

inline data value_of(const kafka_record& x) {
  auto value = decode_binary(std::as_bytes(std::span{x.value}));
  REQUIRE(value);
  return *value;
}

inline void publish_numbers(endpoint& ep, const std::string& topic, std::uint64_t n) {
  auto pub = ep.make_publisher(topic);
  for (std::uint64_t i = 0; i < n; ++i)
    REQUIRE(pub.publish(*encode_binary(data{count{i}})) == publish_result::taken);
}

inline zeek::log_schema conn_schema() {
  return {"conn",
          {{"ts", "time"},
           {"uid", "string"},
           {"id.orig_h", "addr"},
           {"id.orig_p", "port"},
           {"id.resp_h", "addr"},
           {"id.resp_p", "port"},
           {"proto", "enum"}},
          1};
}

inline vector conn_record(const std::string& uid) {
  return {data{timestamp{std::chrono::seconds{1700000000}}},
          data{uid},
          data{*address::parse("128.232.110.120")},
          data{port{34855, transport::tcp}},
          data{*address::parse("66.35.250.204")},
          data{port{80, transport::tcp}},
          data{enum_value{"tcp"}}};
}

inline void announce_and_publish(endpoint& ep, const std::vector<std::string>& uids) {
  const auto topic = zeek::log_topic("conn");
  REQUIRE(ep.publish(topic, zeek::make_log_fields_event(conn_schema())) == publish_result::taken);
  for (const auto& each : uids)
    REQUIRE(ep.publish(topic, zeek::make_log_event("conn", conn_record(each))) ==
            publish_result::taken);
}

/// Takes tasks, and says that they are done, until `n` different ones came.
inline std::set<std::uint64_t> do_tasks(task_queue& from, std::size_t n) {
  std::set<std::uint64_t> result;
  while (result.size() < n) {
    auto one = from.get_for(patience);
    REQUIRE(one);
    result.insert(one->value().as_count());
    one->done();
  }
  return result;
}

} // namespace pubsub::test
