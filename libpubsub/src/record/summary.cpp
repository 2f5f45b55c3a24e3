// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/record/summary.hpp>

#include <algorithm>
#include <charconv>
#include <set>
#include <unordered_map>
#include <utility>

#include "record/channel_names.hpp"
#include "record/packer.hpp"
#include "record/source.hpp"

namespace pubsub::record {

namespace {

using counts_by_channel = std::unordered_map<std::uint16_t, std::uint64_t>;

std::uint64_t number_in(const mcap::metadata& x, std::string_view name) {
  std::uint64_t result = 0;
  if (const auto found = x.entries.find(name); found != x.entries.end())
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), result);
  return result;
}

void add_metadata(summary& to, const mcap::metadata& x) {
  if (x.name == about_name)
    to.about = x.entries;
  if (x.name == gap_name)
    to.gaps.push_back(
        {time_of_file(number_in(x, "time")), {number_in(x, "missed"), number_in(x, "dropped")}});
}

// Topics with the channels of all their streams.
void add_topics(summary& to, const channel_directory& channels, const counts_by_channel& counts) {
  std::map<std::pair<std::string, std::string>, topic_summary> topics;
  std::set<std::tuple<std::string, endpoint_id, std::uint32_t>> streams;
  for (const auto& [id, channel] : channels.all()) {
    const auto count = counts.find(id);
    if (count == counts.end() || count->second == 0)
      continue;
    auto& topic = topics[{channel.topic, channel.encoding}];
    topic.topic = channel.topic;
    topic.encoding = channel.encoding;
    topic.messages += count->second;
    const auto& origin = channel.origin;
    if (origin && streams.emplace(channel.topic, origin->endpoint, origin->stream).second)
      ++topic.streams;
  }
  for (auto& [name, topic] : topics)
    to.topics.push_back(std::move(topic));
}

void add_times(summary& to, std::uint64_t first, std::uint64_t last) {
  if (to.messages == 0)
    return;
  to.first = time_of_file(first);
  to.last = time_of_file(last);
}

void add_from_index(summary& to, const source& from) {
  const auto& index = *from.index();
  to.messages = index.statistics.messages;
  to.chunks = index.chunks.size();
  for (const auto& chunk : index.chunks) {
    to.compressed_bytes += chunk.compressed_bytes;
    to.uncompressed_bytes += chunk.uncompressed_bytes;
    to.compression = chunk.compression;
  }
  add_times(to, index.statistics.first_time, index.statistics.last_time);
  for (const auto& where : index.metadata)
    if (const auto x = from.metadata_at(where))
      add_metadata(to, *x);
  const auto& counts = index.statistics.messages_of;
  add_topics(to, from.channels(), {counts.begin(), counts.end()});
}

// Errors: only where reading itself fails.
expected<void> add_by_reading(summary& to, source& from) {
  counts_by_channel counts;
  std::optional<timestamp> first;
  timestamp last;
  for (message msg;;) {
    const auto found = from.next(msg);
    if (!found) {
      if (found.error() == errc::cannot_open_file)
        return found.error();
      if (to.damage.empty())
        to.damage = found.error().context();
      continue;
    }
    if (!*found)
      break;
    ++to.messages;
    ++counts[from.channel()];
    first = std::min(first.value_or(msg.log_time), msg.log_time);
    last = std::max(last, msg.log_time);
  }
  if (to.damage.empty())
    to.damage = from.damage();
  to.chunks = from.between().chunks;
  to.compressed_bytes = from.between().compressed_bytes;
  to.uncompressed_bytes = from.between().uncompressed_bytes;
  to.compression = from.between().compression;
  if (first)
    add_times(to, file_time(*first), file_time(last));
  for (const auto& x : from.between().metadata)
    add_metadata(to, x);
  add_topics(to, from.channels(), counts);
  return {};
}

} // namespace

expected<summary> summarize(const std::string& path) {
  auto opened = source::open(path, {});
  if (!opened)
    return opened.error();
  auto& from = **opened;
  summary result;
  result.path = path;
  result.file_bytes = from.file().size_bytes();
  result.indexed = from.index() != nullptr;
  if (result.indexed)
    add_from_index(result, from);
  else if (auto read = add_by_reading(result, from); !read)
    return read.error();
  result.library = from.library();
  return result;
}

} // namespace pubsub::record
