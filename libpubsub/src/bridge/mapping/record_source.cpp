// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/mapping/record_source.hpp"

#include <algorithm>
#include <utility>

#include <pubsub/zeek/event.hpp>
#include <pubsub/zeek/log_batch.hpp>

namespace pubsub::bridge {

namespace {

// What Zeek's own serializer of logs calls its format.
constexpr std::string_view format_of_batches = "zeek-bin";

/// The bytes of a batch: its format and its bytes travel as a vector of two strings.
std::optional<std::string_view> batch_in(const data_view& value) {
  if (value.type() != data_type::vector || value.size() != 2)
    return {};
  auto part = value.elements().begin();
  const auto format = *part;
  const auto bytes = *++part;
  if (format.type() != data_type::string || bytes.type() != data_type::string ||
      !format.as_string().starts_with(format_of_batches))
    return {};
  return bytes.as_string();
}

} // namespace

rejection record_source::read(const data_view& value, const take_record& take) {
  if (const auto batch = batch_in(value))
    return read_batch(std::as_bytes(std::span{*batch}), take);
  const auto event = zeek::view_event(value);
  if (!event)
    return &rejections::not_a_record;
  const auto unknown = events_.unknown();
  const auto others = events_.others();
  if (const auto record = events_.read(value.to_data())) {
    take(record->schema, record->values);
    return nullptr;
  }
  if (events_.unknown() > unknown)
    return &rejections::unknown_columns;
  return events_.others() > others ? &rejections::not_a_record : &rejections::announcements;
}

rejection record_source::read_batch(std::span<const std::byte> bytes, const take_record& take) {
  const auto batch = zeek::parse_log_batch(bytes);
  if (!batch)
    return &rejections::bad_payload;
  zeek::log_schema schema{batch->path, {batch->columns.begin(), batch->columns.end()}, 1};
  for (const auto& each : batch->records)
    take(schema, each);
  return batch->records.empty() ? &rejections::announcements : nullptr;
}

const data* column_of(const zeek::log_schema& schema, const vector& values, std::string_view name) {
  const auto found = std::ranges::find(schema.fields, name, &zeek::log_field::name);
  const auto place = static_cast<std::size_t>(found - schema.fields.begin());
  if (found == schema.fields.end() || place >= values.size() || values[place].is<none>())
    return nullptr;
  return &values[place];
}

} // namespace pubsub::bridge
