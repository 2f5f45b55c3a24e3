// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/log_feed.hpp"

#include "cluster/event_frames.hpp"

#include <utility>

#include <pubsub/zeek/log.hpp>

namespace pubsub::cluster {

void log_feed::publish(std::span<const std::string_view> frames, endpoint& to) {
  if (frames.size() != frames_of_logs || frames[2] != log_serializer)
    return add(counts_.malformed);
  auto batch = zeek::parse_log_batch(std::as_bytes(std::span{frames[3]}));
  if (!batch)
    return add(counts_.malformed);
  add(counts_.log_batches);
  announce(*batch, to);
  const auto topic = zeek::log_topic(batch->path);
  for (auto& record : batch->records) {
    count_published(counts_,
                    to.try_publish(topic, zeek::make_log_event(batch->path, std::move(record))),
                    counts_.log_records);
  }
}

void log_feed::announce(const zeek::log_batch& batch, endpoint& to) {
  constexpr auto period = std::chrono::seconds{1};
  const auto now = std::chrono::steady_clock::now();
  if (announced_.size() >= max_logs)
    announced_.clear();
  auto& last = announced_[batch.path];
  if (last.columns == batch.columns && now < last.at + period)
    return;
  last = {batch.columns, now};
  zeek::log_schema schema{.path = batch.path, .fields = {}};
  schema.fields.assign(batch.columns.begin(), batch.columns.end());
  // Whether it arrives is seen from the records behind it.
  std::ignore = to.try_publish(zeek::log_topic(batch.path), zeek::make_log_fields_event(schema));
}

} // namespace pubsub::cluster
