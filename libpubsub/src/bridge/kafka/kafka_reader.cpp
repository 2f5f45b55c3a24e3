// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/kafka/kafka_reader.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <utility>

#include <pubsub/value/endpoint_id.hpp>

#include "bridge/kafka/kafka.hpp"
#include "bridge/kafka/kafka_transactions.hpp"
#include "bridge/kafka/kafka_writer.hpp"

namespace pubsub::bridge {

namespace {

using kafka_message = std::unique_ptr<rd_kafka_message_t, destroy_with<rd_kafka_message_destroy>>;

constexpr int lookup_limit_ms = 5'000; // of questions about times

std::string text_of(const void* bytes, std::size_t size) {
  return bytes == nullptr ? std::string{} : std::string{static_cast<const char*>(bytes), size};
}

void read_headers(const rd_kafka_message_t& from, provenance& out) {
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(&from, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return;
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0;
       rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR; ++i)
    read_header(out, name, {static_cast<const char*>(value), value == nullptr ? 0 : size});
}

std::span<rd_kafka_topic_partition_t> elements(rd_kafka_topic_partition_list_t& x) {
  return {x.elems, static_cast<std::size_t>(x.cnt)};
}

/// A group of its own, of which nothing is kept.
std::string group_of(const source_options& options) {
  return options.group.empty() ? "pubsub-" + to_string(endpoint_id::random()) : options.group;
}

} // namespace

expected<std::unique_ptr<kafka_reader>> kafka_reader::make(const kafka& from,
                                                           const source_options& options) {
  std::unique_ptr<kafka_reader> result{new kafka_reader};
  result->listener_->in_group = !options.group.empty();
  result->listener_->start = options.start;
  const auto group = group_of(options);
  const bool at_end = options.start.at == start_position::kind::end;
  auto conf = make_conf(from, *result->listener_,
                        {{"isolation.level", "read_committed"},
                         {"auto.offset.reset", at_end ? "latest" : "earliest"},
                         {"queued.max.messages.kbytes", "65536"}},
                        {{"group.id", group},
                         {"enable.auto.commit", "false"},
                         {"enable.auto.offset.store", "false"},
                         {"enable.partition.eof", "true"}});
  if (!conf)
    return conf.error();
  rd_kafka_conf_set_rebalance_cb(conf->get(), on_rebalance);
  auto client = make_client(RD_KAFKA_CONSUMER, std::move(*conf));
  if (!client)
    return client.error();
  result->client_ = std::move(*client);
  rd_kafka_poll_set_consumer(result->client_.get());
  const kafka_partitions topics{
      rd_kafka_topic_partition_list_new(static_cast<int>(options.from.size()))};
  for (const auto& each : options.from)
    rd_kafka_topic_partition_list_add(topics.get(), each.c_str(), RD_KAFKA_PARTITION_UA);
  if (const auto failed = rd_kafka_subscribe(result->client_.get(), topics.get());
      failed != RD_KAFKA_RESP_ERR_NO_ERROR)
    return error{errc::invalid_argument, std::string{"kafka: from: "} + rd_kafka_err2str(failed)};
  return result;
}

kafka_reader::~kafka_reader() {
  if (client_ != nullptr)
    rd_kafka_consumer_close(client_.get());
}

void kafka_reader::on_rebalance(rd_kafka_t* client, rd_kafka_resp_err_t what,
                                rd_kafka_topic_partition_list_t* partitions, void* opaque) {
  auto& to = static_cast<listener&>(*static_cast<kafka_problems*>(opaque));
  to.assigned.clear();
  to.at_end.clear();
  if (to.in_group) { // others may go on where this one was: what is stored counts
    to.next.clear();
    to.committed.clear();
  }
  if (what != RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
    rd_kafka_assign(client, nullptr);
    return;
  }
  for (const auto& each : elements(*partitions))
    to.assigned.emplace(each.topic, each.partition);
  if (!std::exchange(to.placed, true))
    place(client, *partitions, to.start);
  for (auto& each : elements(*partitions))
    if (const auto known = to.next.find({each.topic, each.partition}); known != to.next.end())
      each.offset = known->second;
  rd_kafka_assign(client, partitions);
}

/// Where to begin, unless with what the group has confirmed.
void kafka_reader::place(rd_kafka_t* client, rd_kafka_topic_partition_list_t& partitions,
                         const start_position& start) {
  using kind = start_position::kind;
  if (start.at == kind::stored)
    return;
  std::int64_t offset = RD_KAFKA_OFFSET_BEGINNING;
  if (start.at == kind::end)
    offset = RD_KAFKA_OFFSET_END;
  else if (start.at == kind::offset)
    offset = std::strtoll(start.offset.c_str(), nullptr, 10);
  else if (start.at == kind::time)
    offset = std::chrono::duration_cast<std::chrono::milliseconds>(start.time.time_since_epoch())
                 .count();
  for (auto& each : elements(partitions))
    each.offset = offset;
  if (start.at == kind::time)
    rd_kafka_offsets_for_times(client, &partitions, lookup_limit_ms);
}

void kafka_reader::fetch(std::vector<fetched_record>& out, std::size_t max,
                         std::chrono::milliseconds timeout) {
  auto wait = static_cast<int>(timeout.count());
  for (std::size_t i = 0; i < max; ++i) {
    const kafka_message next{rd_kafka_consumer_poll(client_.get(), std::exchange(wait, 0))};
    if (next == nullptr)
      break;
    take(*next, out);
  }
  std::array<char, 512> why{};
  if (rd_kafka_fatal_error(client_.get(), why.data(), why.size()) != RD_KAFKA_RESP_ERR_NO_ERROR)
    failure_ = {errc::operation_failed, "kafka: " + std::string{why.data()}};
  else
    failure_ = listener_->refusal();
}

void kafka_reader::take(rd_kafka_message_t& from, std::vector<fetched_record>& out) {
  if (from.rkt == nullptr) {
    listener_->note(rd_kafka_message_errstr(&from));
    return;
  }
  partition where{rd_kafka_topic_name(from.rkt), from.partition};
  if (from.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    listener_->at_end.insert(std::move(where));
    return;
  }
  if (from.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    listener_->note(rd_kafka_message_errstr(&from));
    return;
  }
  auto& record = out.emplace_back();
  record.to = where.first;
  record.key = text_of(from.key, from.key_len);
  record.payload = text_of(from.payload, from.len);
  read_headers(from, record.from);
  listener_->next.insert_or_assign(std::move(where), from.offset + 1);
}

bool kafka_reader::commit() {
  if (!listener_->in_group || listener_->next == listener_->committed)
    return true;
  const kafka_partitions reached{
      rd_kafka_topic_partition_list_new(static_cast<int>(listener_->next.size()))};
  for (const auto& [where, offset] : listener_->next)
    rd_kafka_topic_partition_list_add(reached.get(), where.first.c_str(), where.second)->offset =
        offset;
  const auto failed = rd_kafka_commit(client_.get(), reached.get(), 0);
  if (failed != RD_KAFKA_RESP_ERR_NO_ERROR) {
    listener_->note(std::string{"commit: "} + rd_kafka_err2str(failed));
    return false;
  }
  listener_->committed = listener_->next;
  return true;
}

bool kafka_reader::at_end() const {
  return !listener_->assigned.empty() && listener_->at_end.size() >= listener_->assigned.size();
}

std::uint64_t kafka_reader::lag() const {
  std::int64_t result = 0;
  for (const auto& [where, offset] : listener_->next) {
    std::int64_t low = 0;
    std::int64_t high = 0;
    if (rd_kafka_get_watermark_offsets(client_.get(), where.first.c_str(), where.second, &low,
                                       &high) == RD_KAFKA_RESP_ERR_NO_ERROR)
      result += std::max<std::int64_t>(high - offset, 0);
  }
  return static_cast<std::uint64_t>(result);
}

expected<std::unique_ptr<engine_writer>> make_writer(const kafka& to) {
  auto producer = kafka_producer::make(to);
  if (!producer)
    return producer.error();
  std::unique_ptr<engine_writer> result;
  if (to.transactional_id.empty())
    result = std::make_unique<kafka_writer>(std::move(*producer));
  else
    result = std::make_unique<kafka_transactions>(std::move(*producer), to);
  return result;
}

expected<std::unique_ptr<engine_reader>> make_reader(const kafka& from,
                                                     const source_options& options) {
  auto made = kafka_reader::make(from, options);
  if (!made)
    return made.error();
  return std::unique_ptr<engine_reader>{std::move(*made)};
}

} // namespace pubsub::bridge
