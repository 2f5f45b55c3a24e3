// SPDX-License-Identifier: BSD-3-Clause
#include "record/channel_table.hpp"

#include <pubsub/record/recorded_message.hpp>

#include "format/utf8.hpp"
#include "record/channel_names.hpp"
#include "record/mcap.hpp"
#include "record/schemas.hpp"

namespace pubsub::record {

namespace {

std::uint64_t upper_half(const message_origin& x) noexcept {
  return x.sequence >> 32;
}

bool same_stream(const std::optional<message_origin>& a,
                 const std::optional<message_origin>& b) noexcept {
  if (!a || !b)
    return a.has_value() == b.has_value();
  return a->endpoint == b->endpoint && a->stream == b->stream && upper_half(*a) == upper_half(*b);
}

byte_buffer channel_record(std::uint16_t id, const channel_key& key) {
  mcap::channel x;
  x.id = id;
  x.schema_id = schema_of(key.encoding);
  x.topic = readable(key.topic);
  x.encoding = key.encoding;
  if (!is_utf8(key.topic))
    x.metadata.emplace(topic_bytes_name, to_hex(key.topic));
  if (key.origin) {
    x.metadata.emplace(origin_name, to_string(key.origin->endpoint));
    x.metadata.emplace(stream_name, std::to_string(key.origin->stream));
    if (const auto upper = upper_half(*key.origin); upper > 0)
      x.metadata.emplace(upper_half_name, std::to_string(upper));
  }
  byte_buffer record;
  mcap::append(record, x);
  return record;
}

} // namespace

template <class Key>
std::size_t channel_table::hash::operator()(const Key& x) const noexcept {
  auto result = std::hash<std::string_view>{}(x.topic);
  if (x.origin)
    result ^= std::hash<endpoint_id>{}(x.origin->endpoint) + 31 * x.origin->stream +
              upper_half(*x.origin);
  return result;
}

template <class A, class B>
bool channel_table::equal::operator()(const A& a, const B& b) const noexcept {
  return a.topic == b.topic && a.encoding == b.encoding && same_stream(a.origin, b.origin);
}

channel_table::entry* channel_table::find(const channel_key& key) {
  if (last_name_ != nullptr && equal{}(*last_name_, key))
    return last_entry_;
  auto found = entries_.find(key);
  if (found == entries_.end()) {
    if (entries_.size() >= most_)
      return nullptr;
    const auto id = static_cast<std::uint16_t>(entries_.size() + 1);
    records_->of.push_back(channel_record(id, key));
    found = entries_
                .emplace(name{std::string{key.topic}, std::string{key.encoding}, key.origin},
                         entry{id, 0})
                .first;
  }
  last_name_ = &found->first;
  last_entry_ = &found->second;
  return last_entry_;
}

void channel_table::renew() {
  entries_.clear();
  records_ = std::make_shared<channel_records>();
  last_name_ = nullptr;
  last_entry_ = nullptr;
}

} // namespace pubsub::record
