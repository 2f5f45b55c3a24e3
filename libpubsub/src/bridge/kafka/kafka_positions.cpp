// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <charconv>
#include <vector>

#include "bridge/kafka/kafka_transactions.hpp"

namespace pubsub::bridge {

namespace {

using clock = std::chrono::steady_clock;

int left_until(clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

error no_positions(const std::string& topic, std::string_view why) {
  return {errc::request_timeout,
          "kafka: positions of earlier transactions in " + topic + ": " + std::string{why}};
}

/// The partitions of the topic, each to be read from its beginning; none if it does not exist.
expected<kafka_partitions> partitions_of(rd_kafka_t* client, const std::string& topic,
                                         clock::time_point until) {
  kafka_partitions result{rd_kafka_topic_partition_list_new(1)};
  const kafka_topic handle{rd_kafka_topic_new(client, topic.c_str(), nullptr)};
  const rd_kafka_metadata_t* found = nullptr;
  const auto failed = rd_kafka_metadata(client, 0, handle.get(), &found, left_until(until));
  if (failed != RD_KAFKA_RESP_ERR_NO_ERROR)
    return no_positions(topic, rd_kafka_err2str(failed));
  const std::unique_ptr<const rd_kafka_metadata_t, destroy_with<rd_kafka_metadata_destroy>> owner{
      found};
  for (int i = 0; i < found->topic_cnt; ++i)
    for (int k = 0; k < found->topics[i].partition_cnt; ++k)
      rd_kafka_topic_partition_list_add(result.get(), topic.c_str(),
                                        found->topics[i].partitions[k].id)
          ->offset = RD_KAFKA_OFFSET_BEGINNING;
  return result;
}

void take_position(const rd_kafka_message_t& record, positions_by_source& out) {
  const std::string_view source{static_cast<const char*>(record.key), record.key_len};
  const std::string_view text{static_cast<const char*>(record.payload), record.len};
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (source.empty() || failed != std::errc{} || end != text.data() + text.size())
    return; // not written by a sink
  auto& last = out[std::string{source}];
  last = std::max(last, number);
}

} // namespace

expected<std::optional<positions_by_source>> read_positions(const kafka& options,
                                                            std::chrono::milliseconds timeout) {
  const auto until = clock::now() + timeout;
  kafka_problems problems;
  kafka without_transactions = options;
  std::erase_if(without_transactions.settings, [](const auto& each) {
    return each.first.starts_with("transaction") || each.first.starts_with("queue.buffering");
  });
  auto conf = make_conf(without_transactions, problems, {},
                        {{"group.id", options.transactional_id},
                         {"isolation.level", "read_committed"},
                         {"enable.auto.commit", "false"},
                         {"enable.partition.eof", "true"}});
  if (!conf)
    return conf.error();
  auto client = make_client(RD_KAFKA_CONSUMER, std::move(*conf));
  if (!client)
    return client.error();
  rd_kafka_poll_set_consumer(client->get());
  const auto partitions = partitions_of(client->get(), options.positions, until);
  if (!partitions)
    return partitions.error();
  if ((*partitions)->cnt == 0)
    return std::optional<positions_by_source>{};
  positions_by_source result;
  rd_kafka_assign(client->get(), partitions->get());
  for (int at_end = 0; at_end < (*partitions)->cnt;) {
    const std::unique_ptr<rd_kafka_message_t, destroy_with<rd_kafka_message_destroy>> record{
        rd_kafka_consumer_poll(client->get(), left_until(until))};
    if (record == nullptr)
      return no_positions(options.positions,
                          problems.last().empty() ? "no answer" : problems.last());
    if (record->err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
      ++at_end;
    else if (record->err == RD_KAFKA_RESP_ERR_NO_ERROR)
      take_position(*record, result);
    else if (record->err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
      return no_positions(options.positions, rd_kafka_err2str(record->err));
  }
  return std::optional{std::move(result)};
}

void make_positions_topic(rd_kafka_t* client, const std::string& name) {
  std::unique_ptr<rd_kafka_NewTopic_t, destroy_with<rd_kafka_NewTopic_destroy>> topic{
      rd_kafka_NewTopic_new(name.c_str(), 1, -1, nullptr, 0)};
  if (topic == nullptr)
    return;
  rd_kafka_NewTopic_set_config(topic.get(), "cleanup.policy", "compact");
  const kafka_queue answers{rd_kafka_queue_new(client)};
  auto* wanted = topic.get();
  rd_kafka_CreateTopics(client, &wanted, 1, nullptr, answers.get());
  constexpr int patience_ms = 5'000;
  // Where it is there already, or may not be made, reading it says what is the matter.
  std::unique_ptr<rd_kafka_event_t, destroy_with<rd_kafka_event_destroy>>{
      rd_kafka_queue_poll(answers.get(), patience_ms)};
}

} // namespace pubsub::bridge
