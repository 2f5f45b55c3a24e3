// SPDX-License-Identifier: BSD-3-Clause
#include "record_feed.hpp"

#include <algorithm>
#include <tuple>

namespace pubsub::zeek::backend {

namespace {

// Zeek makes up paths, by functions of scripts, of whatever it sees in traffic.
constexpr std::size_t max_logs = 10'000;

/// An event of one argument or more is a vector of a version, a kind, and a vector of both.
void begin_event(data_writer& to, std::string_view name, std::size_t args) {
  to.clear();
  to.begin_vector(3);
  to.write_count(1);
  to.write_count(1);
  to.begin_vector(2);
  to.write_string(name);
  to.begin_vector(args);
}

error no_batch(std::string what) {
  return {errc::invalid_message, "no batch of records: " + std::move(what)};
}

bool is_column(const data_view& x) {
  if (x.type() != data_type::vector || x.size() < 2)
    return false;
  auto part = x.elements().begin();
  const auto name = *part;
  return name.type() == data_type::string && (*++part).type() == data_type::string;
}

} // namespace

expected<published_records> record_feed::publish(std::span<const std::byte> bytes) {
  const auto batch = data_view::make(bytes);
  if (!batch)
    return batch.error();
  if (batch->type() != data_type::vector || batch->size() != record_batch_parts)
    return no_batch("not a vector of six");
  auto part = std::next(batch->elements().begin(), 3);
  const auto path = *part;
  const auto columns = *++part;
  const auto records = *++part;
  if (path.type() != data_type::string || columns.type() != data_type::vector ||
      records.type() != data_type::vector || !std::ranges::all_of(columns.elements(), is_column))
    return no_batch("path, columns or records of another type");
  const auto topic = prefix_ + std::string{path.as_string()};
  const auto name = "log_" + std::string{path.as_string()};
  announce(topic, path.as_string(), columns);
  published_records result;
  for (const auto record : records.elements()) {
    begin_event(event_, name, 1);
    event_.write_encoded(record.bytes());
    const auto verdict = send_(topic, event_.bytes());
    const bool got_through =
        verdict == publish_result::taken || verdict == publish_result::unwanted;
    ++(got_through ? result.taken : result.dropped);
  }
  return result;
}

void record_feed::announce(std::string_view topic, std::string_view path,
                           const data_view& columns) {
  constexpr auto period = std::chrono::seconds{1};
  const auto now = std::chrono::steady_clock::now();
  if (announced_.size() >= max_logs)
    announced_.clear();
  const auto encoded = columns.bytes();
  auto& last = announced_[std::string{path}];
  if (std::ranges::equal(last.columns, encoded) && now < last.at + period)
    return;
  last = {{encoded.begin(), encoded.end()}, now};
  begin_event(event_, "log_fields", 2);
  event_.write_string(path);
  event_.begin_vector(columns.size());
  for (const auto column : columns.elements()) {
    auto part = column.elements().begin();
    event_.begin_vector(2);
    event_.write_encoded((*part).bytes());
    event_.write_encoded((*++part).bytes());
  }
  // Whether it arrives is seen from the records behind it.
  std::ignore = send_(topic, event_.bytes());
}

} // namespace pubsub::zeek::backend
