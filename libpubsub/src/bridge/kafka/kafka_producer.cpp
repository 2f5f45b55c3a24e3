// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/kafka/kafka_producer.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace pubsub::bridge {

namespace {

constexpr std::size_t most_topics = 4'096;
constexpr std::size_t longest_name = 249;

bool is_allowed(char x) {
  return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || (x >= '0' && x <= '9') || x == '.' ||
         x == '_' || x == '-';
}

int flags_for(const record_payload& x) {
  return x.is_lent() ? 0 : RD_KAFKA_MSG_F_COPY;
}

/// What the library keeps with a record.
void* opaque_of(const engine_record& x) {
  return reinterpret_cast<void*>(x.number);
}

/// How many of the first records can be handed over together: those for one topic, without headers,
/// whose payloads are all lent, or none of them. At least one.
std::size_t count_of_alike(std::span<const engine_record> records) {
  const auto& first = records.front();
  const auto differs = [&first](const engine_record& x) {
    return !x.from.hidden || x.to != first.to || x.payload.is_lent() != first.payload.is_lent();
  };
  const auto end = std::ranges::find_if(records, differs);
  return std::max<std::size_t>(static_cast<std::size_t>(end - records.begin()), 1);
}

} // namespace

expected<std::unique_ptr<kafka_producer>> kafka_producer::make(const kafka& options) {
  std::unique_ptr<kafka_producer> result{new kafka_producer};
  const bool transactions = !options.transactional_id.empty();
  // Without a limit in time: who hands over waits, and nothing is given up. Transactions have one.
  // Keys are spread as Java's clients do it.
  auto conf = transactions
                  ? make_conf(options, *result->listener_, {{"partitioner", "murmur2_random"}},
                              {{"enable.idempotence", "true"},
                               {"acks", "all"},
                               {"transactional.id", options.transactional_id}})
                  : make_conf(options, *result->listener_,
                              {{"partitioner", "murmur2_random"}, {"message.timeout.ms", "0"}},
                              {{"enable.idempotence", "true"}, {"acks", "all"}});
  if (!conf)
    return conf.error();
  rd_kafka_conf_set_dr_msg_cb(conf->get(), on_report);
  auto client = make_client(RD_KAFKA_PRODUCER, std::move(*conf));
  if (!client)
    return client.error();
  result->client_ = std::move(*client);
  result->queue_.reset(rd_kafka_queue_get_main(result->client_.get()));
  result->event_ = std::make_unique<kafka_event>(result->queue_.get());
  return result;
}

kafka_producer::~kafka_producer() {
  if (client_ == nullptr)
    return;
  // Without this, destroying it would wait for what cannot be sent.
  rd_kafka_purge(client_.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  rd_kafka_queue_io_event_enable(queue_.get(), -1, nullptr, 0);
}

bool kafka_producer::produce(const engine_record& what) {
  auto* const to = topic(what.to);
  const auto payload = what.payload.view();
  auto* const headers = what.from.hidden ? nullptr : rd_kafka_headers_new(8);
  for_each_header(what.from, [&](std::string_view name, std::string_view value) {
    rd_kafka_header_add(headers, name.data(), static_cast<ssize_t>(name.size()), value.data(),
                        static_cast<ssize_t>(value.size()));
  });
  // The number of the record is what the report brings back.
  std::array<rd_kafka_vu_t, 6> parts{};
  const auto count = headers == nullptr ? parts.size() - 1 : parts.size(); // they are last
  parts[0].vtype = RD_KAFKA_VTYPE_RKT;
  parts[0].u.rkt = to;
  parts[1].vtype = RD_KAFKA_VTYPE_VALUE;
  parts[1].u.mem = {const_cast<char*>(payload.data()), payload.size()};
  parts[2].vtype = RD_KAFKA_VTYPE_KEY;
  parts[2].u.mem = {what.key.empty() ? nullptr : const_cast<char*>(what.key.data()),
                    what.key.size()};
  parts[3].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
  parts[3].u.i = flags_for(what.payload);
  parts[4].vtype = RD_KAFKA_VTYPE_OPAQUE;
  parts[4].u.ptr = opaque_of(what);
  parts[5].vtype = RD_KAFKA_VTYPE_HEADERS;
  parts[5].u.headers = headers;
  const kafka_error failed{rd_kafka_produceva(client_.get(), parts.data(), count)};
  if (failed == nullptr)
    return true;
  if (headers != nullptr)
    rd_kafka_headers_destroy(headers);
  const auto why = rd_kafka_error_code(failed.get());
  if (why == RD_KAFKA_RESP_ERR__QUEUE_FULL)
    return false;
  refuse(what, why, rd_kafka_error_string(failed.get()));
  return true;
}

std::size_t kafka_producer::produce_all(std::span<const engine_record> records) {
  std::size_t taken = 0;
  while (taken < records.size()) {
    const auto left = records.subspan(taken);
    const auto some = left.first(count_of_alike(left));
    const auto now = some.size() > 1 ? produce_together(some) : produce(some.front()) ? 1U : 0U;
    taken += now;
    if (now < some.size())
      break;
  }
  return taken;
}

/// Records that are alike. The library looks at the clock and at its topic once for all of them.
std::size_t kafka_producer::produce_together(std::span<const engine_record> records) {
  together_.assign(records.size(), {});
  for (std::size_t i = 0; i < records.size(); ++i) {
    auto& out = together_[i];
    const auto payload = records[i].payload.view();
    out.payload = const_cast<char*>(payload.data());
    out.len = payload.size();
    const auto& key = records[i].key;
    out.key = key.empty() ? nullptr : const_cast<char*>(key.data());
    out.key_len = key.size();
    out._private = opaque_of(records[i]);
  }
  rd_kafka_produce_batch(topic(records.front().to), RD_KAFKA_PARTITION_UA,
                         flags_for(records.front().payload), together_.data(),
                         static_cast<int>(together_.size()));
  // Once there was no room for a record, the library takes none behind it.
  std::size_t taken = 0;
  for (; taken < records.size(); ++taken) {
    const auto failed = together_[taken].err;
    if (failed == RD_KAFKA_RESP_ERR__QUEUE_FULL)
      break;
    if (failed != RD_KAFKA_RESP_ERR_NO_ERROR)
      refuse(records[taken], failed, rd_kafka_err2str(failed));
  }
  return taken;
}

void kafka_producer::refuse(const engine_record& what, rd_kafka_resp_err_t error, std::string why) {
  note_problem(std::move(why));
  listener_->reports.push_back({what.number, error, what.payload.size()});
}

rd_kafka_topic_t* kafka_producer::topic(std::string_view name) {
  if (const auto known = topics_.find(name); known != topics_.end())
    return known->second.get();
  if (topics_.size() >= most_topics)
    topics_.clear();
  const std::string own{name};
  kafka_topic made{rd_kafka_topic_new(client_.get(), own.c_str(), nullptr)};
  return topics_.emplace(own, std::move(made)).first->second.get();
}

const std::vector<delivery_report>& kafka_producer::reports() {
  event_->clear();
  rd_kafka_poll(client_.get(), 0);
  reports_.clear();
  reports_.swap(listener_->reports);
  return reports_;
}

void kafka_producer::on_report(rd_kafka_t*, const rd_kafka_message_t* about, void* opaque) {
  auto& to = static_cast<listener&>(*static_cast<kafka_problems*>(opaque));
  to.reports.push_back({reinterpret_cast<std::uintptr_t>(about->_private), about->err, about->len});
  if (about->err != RD_KAFKA_RESP_ERR_NO_ERROR)
    to.note(rd_kafka_err2str(about->err));
}

error kafka_producer::failure() const {
  std::array<char, 512> text{};
  const auto code = rd_kafka_fatal_error(client_.get(), text.data(), text.size());
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
    return listener_->refusal();
  return {errc::operation_failed, "kafka: " + std::string{text.data()}};
}

outcome outcome_of(rd_kafka_resp_err_t error) noexcept {
  switch (error) {
  case RD_KAFKA_RESP_ERR_NO_ERROR:
    return outcome::written;
  case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
  case RD_KAFKA_RESP_ERR__PURGE_QUEUE:
  case RD_KAFKA_RESP_ERR__PURGE_INFLIGHT:
  case RD_KAFKA_RESP_ERR__FATAL:
    return outcome::timed_out;
  default:
    return outcome::refused;
  }
}

std::string usable_kafka_name(std::string_view name) {
  if (name.empty() || name.size() > longest_name || name == "." || name == "..")
    return {};
  std::string result{name};
  for (auto& each : result)
    if (!is_allowed(each))
      each = each == '/' ? '.' : '_';
  return result;
}

} // namespace pubsub::bridge
