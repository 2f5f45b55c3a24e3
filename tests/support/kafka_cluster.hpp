// A cluster of Kafka brokers in this process, as librdkafka brings it for tests.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <pubsub/bridge/engines.hpp>

namespace pubsub::test {

class kafka_cluster {
public:
  explicit kafka_cluster(int brokers = 3) {
    char why[512] = {};
    auto* const conf = rd_kafka_conf_new();
    rd_kafka_conf_set_log_cb(conf, [](const rd_kafka_t*, int, const char*, const char*) {});
    client_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
    REQUIRE_MESSAGE(client_ != nullptr, why);
    cluster_ = rd_kafka_mock_cluster_new(client_, brokers);
    REQUIRE(cluster_ != nullptr);
  }
  kafka_cluster(const kafka_cluster&) = delete;
  kafka_cluster& operator=(const kafka_cluster&) = delete;
  ~kafka_cluster() {
    rd_kafka_mock_cluster_destroy(cluster_);
    rd_kafka_destroy(client_);
  }

  std::string brokers() const { return rd_kafka_mock_cluster_bootstraps(cluster_); }
  bridge::kafka options() const {
    bridge::kafka result;
    result.brokers = brokers();
    return result;
  }
  /// For sources: these brokers learn that a member of a group is gone by its silence only.
  bridge::kafka reading() const {
    auto result = options();
    result.settings = {{"session.timeout.ms", "6000"}, {"heartbeat.interval.ms", "1000"}};
    return result;
  }
  void make_topic(const std::string& name, int partitions) {
    REQUIRE(rd_kafka_mock_topic_create(cluster_, name.c_str(), partitions, 1) ==
            RD_KAFKA_RESP_ERR_NO_ERROR);
  }
  rd_kafka_mock_cluster_t* mock() const { return cluster_; }

private:
  rd_kafka_t* client_ = nullptr;
  rd_kafka_mock_cluster_t* cluster_ = nullptr;
};

/// A record as any client of Kafka sees it.
struct kafka_record {
  std::string key;
  std::string value;
  std::vector<std::pair<std::string, std::string>> headers;
  std::int32_t partition = -1;

  std::string header(std::string_view name) const {
    for (const auto& [its_name, value_of_it] : headers)
      if (its_name == name)
        return value_of_it;
    return {};
  }
};

/// All committed records of a topic, partition by partition.
inline std::vector<kafka_record> read_topic(const std::string& brokers, const std::string& topic,
                                            const std::string& isolation = "read_committed") {
  char why[512] = {};
  auto* const conf = rd_kafka_conf_new();
  for (const auto& [name, value] :
       {std::pair<const char*, std::string>{"bootstrap.servers", brokers},
        {"group.id", "reader of a test"},
        {"enable.partition.eof", "true"},
        {"enable.auto.commit", "false"},
        {"isolation.level", isolation}})
    REQUIRE(rd_kafka_conf_set(conf, name, value.c_str(), why, sizeof why) == RD_KAFKA_CONF_OK);
  auto* const client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
  REQUIRE_MESSAGE(client != nullptr, why);
  rd_kafka_poll_set_consumer(client);
  const rd_kafka_metadata_t* about = nullptr;
  auto* const handle = rd_kafka_topic_new(client, topic.c_str(), nullptr);
  REQUIRE(rd_kafka_metadata(client, 0, handle, &about, 10'000) == RD_KAFKA_RESP_ERR_NO_ERROR);
  rd_kafka_topic_destroy(handle);
  const int partitions = about->topics[0].partition_cnt;
  rd_kafka_metadata_destroy(about);
  auto* const all = rd_kafka_topic_partition_list_new(partitions);
  for (int i = 0; i < partitions; ++i)
    rd_kafka_topic_partition_list_add(all, topic.c_str(), i)->offset = RD_KAFKA_OFFSET_BEGINNING;
  rd_kafka_assign(client, all);
  rd_kafka_topic_partition_list_destroy(all);
  std::vector<kafka_record> result;
  for (int ended = 0; ended < partitions;) {
    auto* const next = rd_kafka_consumer_poll(client, 10'000);
    REQUIRE(next != nullptr);
    if (next->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      ++ended;
    } else if (next->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      kafka_record record{next->key == nullptr
                              ? std::string{}
                              : std::string{static_cast<char*>(next->key), next->key_len},
                          std::string{static_cast<char*>(next->payload), next->len},
                          {},
                          next->partition};
      rd_kafka_headers_t* headers = nullptr;
      if (rd_kafka_message_headers(next, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        const char* name = nullptr;
        const void* value = nullptr;
        std::size_t size = 0;
        for (std::size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &value, &size) ==
                                RD_KAFKA_RESP_ERR_NO_ERROR;
             ++i)
          record.headers.emplace_back(name, std::string{static_cast<const char*>(value), size});
      }
      result.push_back(std::move(record));
    } else {
      FAIL(rd_kafka_message_errstr(next));
    }
    rd_kafka_message_destroy(next);
  }
  rd_kafka_consumer_close(client);
  rd_kafka_destroy(client);
  return result;
}

} // namespace pubsub::test
