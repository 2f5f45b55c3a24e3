// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/log_sender.hpp"

#include "cluster/event_frames.hpp"
#include "cluster/log_streams.hpp"
#include "cluster/tuning.hpp"
#include "cluster/zeromq_kit.hpp"

#include <array>
#include <optional>
#include <utility>

#include <pubsub/zeek/log.hpp>

namespace pubsub::cluster {

namespace {

constexpr std::string_view event_of_columns = "log_fields";
constexpr std::string_view event_prefix = "log_";

/// What `log_fields` says; nothing where it says something else.
std::optional<std::vector<zeek::log_column>> columns_of(const data_view& fields) {
  const auto all = fields.to_data();
  const auto* const list = all.get_if<vector>();
  if (list == nullptr)
    return {};
  std::vector<zeek::log_column> result;
  for (const auto& each : *list) {
    const auto* const pair = each.get_if<vector>();
    if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is<std::string>() ||
        !(*pair)[1].is<std::string>())
      return {};
    zeek::log_column column;
    column.name = (*pair)[0].get<std::string>();
    column.type = (*pair)[1].get<std::string>();
    column.optional = true; // which records are published does not say
    result.push_back(std::move(column));
  }
  return result;
}

} // namespace

void log_sender::take(const data_message& message, clock::time_point now) {
  const auto path = get_topic(message).substr(zeek::log_topic({}).size());
  const auto event = zeek::view_event(get_view(message));
  if (!event)
    return add(counts_.log_records_unreadable);
  auto args = event->args();
  if (event->name() == event_of_columns && event->args_size() == 2)
    return set_columns(path, *++args.begin());
  if (event->name().starts_with(event_prefix) &&
      event->name().substr(event_prefix.size()) == path && event->args_size() == 1)
    return add_record(path, *args.begin(), now);
  add(counts_.log_records_unreadable);
}

void log_sender::set_columns(std::string_view path, const data_view& fields) {
  auto columns = columns_of(fields);
  if (!columns)
    return add(counts_.log_records_unreadable);
  auto found = logs_.find(path);
  if (found == logs_.end()) {
    if (logs_.size() >= max_logs) {
      end_all_batches();
      logs_.clear();
    }
    found = logs_.emplace(std::string{path}, log{}).first;
    auto& fresh = found->second.batch;
    fresh.path = found->first;
    fresh.stream = stream_of(found->first);
    fresh.writer = "Log::WRITER_ASCII";
    fresh.filter = "default";
  }
  auto& batch = found->second.batch;
  if (batch.columns == *columns)
    return;
  end(batch);
  batch.columns = std::move(*columns);
}

void log_sender::add_record(std::string_view path, const data_view& values, clock::time_point now) {
  const auto found = logs_.find(path);
  auto record = values.to_data();
  auto* const fields = record.get_if<vector>();
  if (found == logs_.end() || fields == nullptr ||
      fields->size() != found->second.batch.columns.size())
    return add(counts_.log_records_unreadable);
  auto& [batch, begun] = found->second;
  if (batch.records.empty())
    begun = now;
  batch.records.push_back(std::move(*fields));
  ++open_records_;
  if (batch.records.size() >= tuning::records_in_batch)
    end(batch);
  else if (open_records_ >= max_open_records)
    end_all_batches();
}

void log_sender::end_old_batches(clock::time_point now) {
  if (open_records_ > 0)
    for (auto& [path, each] : logs_)
      if (!each.batch.records.empty() && now - each.begun >= tuning::longest_batch)
        end(each.batch);
}

void log_sender::end_all_batches() {
  for (auto& [path, each] : logs_)
    end(each.batch);
}

/// A record whose values are not of the types of its columns goes alone, and takes no other along.
void log_sender::end(zeek::log_batch& batch) {
  if (batch.records.empty())
    return;
  open_records_ -= batch.records.size();
  auto bytes = zeek::encode_log_batch(batch);
  if (!bytes) {
    auto single = batch;
    const auto bad = std::erase_if(batch.records, [&](const auto& record) {
      single.records = {record};
      return !zeek::encode_log_batch(single);
    });
    add(counts_.log_records_unreadable, bad);
    bytes = zeek::encode_log_batch(batch);
  }
  if (bytes && !batch.records.empty())
    ready_.push_back({std::move(*bytes), batch.records.size()});
  batch.records.clear();
}

void log_sender::send(zmq::socket_t& to, std::string_view sender) {
  for (; !ready_.empty(); ready_.pop_front()) {
    const auto& [bytes, records] = ready_.front();
    const std::array<std::string_view, frames_of_logs> frames{
        "log-write",
        sender,
        log_serializer,
        {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
    if (!send_frames(to, frames))
      return;
    add(counts_.log_batches_sent);
    add(counts_.log_records_sent, records);
  }
}

std::size_t log_sender::waiting() const noexcept {
  auto result = open_records_;
  for (const auto& each : ready_)
    result += each.records;
  return result;
}

std::string log_sender::stream_of(const std::string& path) const {
  const auto named = options_.log_streams.find(path);
  return named == options_.log_streams.end() ? usual_stream(path) : named->second;
}

} // namespace pubsub::cluster
