// Batches of records, published record by record for the subscribers of logs.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/data_view.hpp>
#include <pubsub/data_writer.hpp>

#include <pubsub/error.hpp>
#include <pubsub/publishable.hpp>

namespace pubsub::zeek::backend {

/// The form of a batch, as `record_serializer_format` says: a vector of the names of stream,
/// writer, filter and path, of a vector of columns and of a vector of records. A column is a vector
/// of its name, its type as Zeek writes it, and what only Zeek needs; a record is a vector of a
/// value for each column.
inline constexpr std::string_view record_format = "pubsub-records-v1";
inline constexpr std::size_t record_batch_parts = 6;

/// How many records of a batch were taken, and how many were not by a link that wants them.
struct published_records {
  std::uint64_t taken = 0;
  std::uint64_t dropped = 0;
};

/// Publishes encoded values.
using value_sender =
    std::function<publish_result(std::string_view topic, std::span<const std::byte>)>;

/// Publishes each record as the event `log_<path>` on `<prefix><path>`; before the first of a log,
/// whenever its columns change, and with the next record once a second has passed, its columns as
/// the event `log_fields` (pubsub/zeek/log.hpp). Not thread-safe.
class record_feed {
public:
  record_feed(value_sender send, std::string prefix)
      : send_(std::move(send)), prefix_(std::move(prefix)) {}

  /// Nothing of what is no batch is published; `bytes` need not be valid.
  expected<published_records> publish(std::span<const std::byte> bytes);

private:
  struct announced {
    std::vector<std::byte> columns;
    std::chrono::steady_clock::time_point at{};
  };

  void announce(std::string_view topic, std::string_view path, const data_view& columns);

  value_sender send_;
  std::string prefix_;
  std::map<std::string, announced, std::less<>> announced_; // by path
  data_writer event_;
};

} // namespace pubsub::zeek::backend
