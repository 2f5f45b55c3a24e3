// Both ends of a test with real brokers: sends numbered tasks, and looks which of them a topic
// keeps. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <librdkafka/rdkafka.h>
#include <pubsub/data_view.hpp>
#include <pubsub/data_writer.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/pattern/pipeline.hpp>

namespace {

using namespace std::chrono_literals;

int fail(const std::string& why) {
  std::fprintf(stderr, "kafka_ends: %s\n", why.c_str());
  return 1;
}

/// Sends the numbers [0, n) to the exchange `jobs`, and waits until all are acknowledged.
int send(const std::string& peer, std::uint64_t n) {
  pubsub::endpoint ep;
  pubsub::peer_options again;
  again.retry = 100ms;
  if (auto ok = ep.peer(peer, again); !ok)
    return fail(ok.error().message());
  pubsub::exchange_options how;
  how.max_losses = 1'000; // workers are killed all the time
  auto out = pubsub::exchange::open(ep, "jobs", how);
  if (!out)
    return fail(out.error().message());
  pubsub::data_writer value;
  for (std::uint64_t i = 0; i < n; ++i) {
    value.clear();
    value.write_count(i);
    if (auto sent = out->send(value.bytes()); !sent)
      return fail(sent.error().message());
    if (i % 100'000 == 0) {
      std::printf("sent %llu\n", static_cast<unsigned long long>(i));
      std::fflush(stdout);
    }
  }
  while (out->drain(1s) > 0)
    ;
  const auto counts = out->counters();
  std::printf("done %llu redelivered %llu dead %llu\n",
              static_cast<unsigned long long>(counts.done),
              static_cast<unsigned long long>(counts.redelivered),
              static_cast<unsigned long long>(counts.dead));
  return counts.done == n && counts.dead == 0 ? 0 : 1;
}

template <auto destroy>
struct destroy_with {
  template <class T>
  void operator()(T* x) const {
    destroy(x);
  }
};
using client_ptr = std::unique_ptr<rd_kafka_t, destroy_with<rd_kafka_destroy>>;
using message_ptr = std::unique_ptr<rd_kafka_message_t, destroy_with<rd_kafka_message_destroy>>;

client_ptr open_reader(const std::string& brokers) {
  char why[512] = {};
  auto* const conf = rd_kafka_conf_new();
  const std::pair<const char*, std::string> settings[] = {{"bootstrap.servers", brokers},
                                                          {"group.id", "kafka_ends"},
                                                          {"enable.auto.commit", "false"},
                                                          {"enable.partition.eof", "true"},
                                                          {"isolation.level", "read_committed"}};
  for (const auto& [name, value] : settings)
    rd_kafka_conf_set(conf, name, value.c_str(), why, sizeof why);
  client_ptr result{rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why)};
  if (result)
    rd_kafka_poll_set_consumer(result.get());
  return result;
}

int assign_all(rd_kafka_t* client, const std::string& topic) {
  auto* const handle = rd_kafka_topic_new(client, topic.c_str(), nullptr);
  const rd_kafka_metadata_t* about = nullptr;
  const auto failed = rd_kafka_metadata(client, 0, handle, &about, 30'000);
  rd_kafka_topic_destroy(handle);
  if (failed != RD_KAFKA_RESP_ERR_NO_ERROR)
    return 0;
  const int count = about->topics[0].partition_cnt;
  rd_kafka_metadata_destroy(about);
  auto* const all = rd_kafka_topic_partition_list_new(count);
  for (int i = 0; i < count; ++i)
    rd_kafka_topic_partition_list_add(all, topic.c_str(), i)->offset = RD_KAFKA_OFFSET_BEGINNING;
  rd_kafka_assign(client, all);
  rd_kafka_topic_partition_list_destroy(all);
  return count;
}

bool is_marked(const rd_kafka_message_t& x) {
  rd_kafka_headers_t* headers = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  return rd_kafka_message_headers(&x, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR &&
         rd_kafka_header_get_last(headers, "pubsub-redelivered", &value, &size) ==
             RD_KAFKA_RESP_ERR_NO_ERROR;
}

/// Which numbers of [0, n) committed records hold, how often, and whether more than one is marked.
int check(const std::string& brokers, const std::string& topic, std::uint64_t n) {
  const auto client = open_reader(brokers);
  if (!client)
    return fail("cannot read from " + brokers);
  const int partitions = assign_all(client.get(), topic);
  if (partitions == 0)
    return fail("no topic " + topic);
  std::vector<std::uint8_t> times(n);
  std::vector<std::uint8_t> marked(n);
  std::uint64_t records = 0;
  std::uint64_t strange = 0;
  for (int at_end = 0; at_end < partitions;) {
    const message_ptr next{rd_kafka_consumer_poll(client.get(), 60'000)};
    if (!next)
      return fail("no answer for a minute");
    if (next->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      ++at_end;
      continue;
    }
    if (next->err != RD_KAFKA_RESP_ERR_NO_ERROR)
      continue;
    ++records;
    const auto value =
        pubsub::data_view::make({static_cast<const std::byte*>(next->payload), next->len});
    if (!value || value->type() != pubsub::data_type::count || value->as_count() >= n) {
      ++strange;
      continue;
    }
    times[value->as_count()] += 1;
    marked[value->as_count()] += is_marked(*next) ? 1 : 0;
  }
  std::uint64_t missing = 0;
  std::uint64_t again = 0;
  std::uint64_t unmarked = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    missing += times[i] == 0 ? 1 : 0;
    again += times[i] > 1 ? times[i] - 1U : 0;
    unmarked += times[i] > 1 && marked[i] + 1 < times[i] ? 1 : 0;
  }
  rd_kafka_consumer_close(client.get());
  std::printf("{\"records\":%llu,\"missing\":%llu,\"duplicates\":%llu,\"unmarked\":%llu,"
              "\"strange\":%llu}\n",
              static_cast<unsigned long long>(records), static_cast<unsigned long long>(missing),
              static_cast<unsigned long long>(again), static_cast<unsigned long long>(unmarked),
              static_cast<unsigned long long>(strange));
  return 0;
}

std::int64_t records_of(rd_kafka_t* client, const std::string& topic, int partitions) {
  std::int64_t result = 0;
  for (int i = 0; i < partitions; ++i) {
    std::int64_t low = 0;
    std::int64_t high = 0;
    if (rd_kafka_query_watermark_offsets(client, topic.c_str(), i, &low, &high, 10'000) ==
        RD_KAFKA_RESP_ERR_NO_ERROR)
      result += high;
  }
  return result;
}

/// An endpoint that a bridge listens at, and waits for what is published on the topic.
std::unique_ptr<pubsub::endpoint> linked_with(const std::string& peer, const std::string& topic) {
  auto result = std::make_unique<pubsub::endpoint>();
  if (!result->peer(peer) || !result->wait_for_subscribers(topic, 1, 30s))
    return nullptr;
  return result;
}

/// Publishes values of so many bytes as fast as they are taken; how many a second the brokers have.
int flood(const std::string& peer, const std::string& brokers, const std::string& topic,
          std::uint64_t n, std::size_t bytes) {
  const auto ep = linked_with(peer, topic);
  const auto client = open_reader(brokers);
  if (!ep || !client)
    return fail("no bridge at " + peer + ", or no brokers at " + brokers);
  const int partitions = assign_all(client.get(), topic);
  const auto before = records_of(client.get(), topic, partitions);
  pubsub::data_writer value;
  value.write_string(std::string(bytes, 'x'));
  auto pub = ep->make_publisher(topic);
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < n; ++i)
    if (pub.publish(value.bytes()) != pubsub::publish_result::taken)
      return fail("a message was not taken");
  while (records_of(client.get(), topic, partitions) - before < static_cast<std::int64_t>(n))
    ;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("{\"records_per_s\":%.0f}\n", static_cast<double>(n) / took.count());
  return 0;
}

/// The time from publishing a value until a reader of the brokers has it, at 1,000 a second.
int latency(const std::string& peer, const std::string& brokers, const std::string& topic,
            std::uint64_t n) {
  using clock = std::chrono::steady_clock;
  const auto ep = linked_with(peer, topic);
  const auto client = open_reader(brokers);
  if (!ep || !client)
    return fail("no bridge at " + peer + ", or no brokers at " + brokers);
  const int partitions = assign_all(client.get(), topic);
  auto pub = ep->make_publisher(topic);
  std::vector<double> times;
  pubsub::data_writer value;
  auto next = clock::now();
  for (std::uint64_t sent = 0; times.size() < n;) {
    if (sent < n + 1'000 && clock::now() >= next) {
      value.clear();
      value.write_count(static_cast<std::uint64_t>(clock::now().time_since_epoch().count()));
      if (pub.publish(value.bytes()) == pubsub::publish_result::taken)
        ++sent;
      next += 1ms;
    }
    const message_ptr one{rd_kafka_consumer_poll(client.get(), 0)};
    if (!one || one->err != RD_KAFKA_RESP_ERR_NO_ERROR)
      continue;
    const auto found =
        pubsub::data_view::make({static_cast<const std::byte*>(one->payload), one->len});
    if (!found || found->type() != pubsub::data_type::count)
      continue; // what was there before
    const auto age =
        clock::now().time_since_epoch().count() - static_cast<std::int64_t>(found->as_count());
    times.push_back(static_cast<double>(age) / 1e6);
  }
  rd_kafka_consumer_close(client.get());
  std::sort(times.begin(), times.end());
  std::printf("{\"p50_ms\":%.2f,\"p99_ms\":%.2f}\n", times[times.size() / 2],
              times[times.size() * 99 / 100]);
  return partitions > 0 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 3 && words[0] == "send")
    return send(words[1], std::stoull(words[2]));
  if (words.size() == 4 && words[0] == "check")
    return check(words[1], words[2], std::stoull(words[3]));
  if (words.size() == 6 && words[0] == "flood")
    return flood(words[1], words[2], words[3], std::stoull(words[4]), std::stoull(words[5]));
  if (words.size() == 5 && words[0] == "latency")
    return latency(words[1], words[2], words[3], std::stoull(words[4]));
  return fail(
      "usage: send PEER TASKS | check BROKERS TOPIC TASKS | flood PEER BROKERS TOPIC N BYTES | "
      "latency PEER BROKERS TOPIC N");
}
