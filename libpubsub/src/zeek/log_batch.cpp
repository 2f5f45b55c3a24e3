// Batches of log records, as loggers of Zeek's ZeroMQ clusters receive them.
// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/zeek/log_batch.hpp>

#include "zeek/log_value_reader.hpp"
#include "zeek/type_tag.hpp"

#include <algorithm>
#include <utility>

namespace pubsub::zeek {

namespace {

// Whether it has a second name, the lengths of no texts, two types, and whether it is optional.
constexpr std::size_t min_column_bytes = 1 + 4 + 4 + 4 + 1;

class batch_reader {
public:
  explicit batch_reader(std::span<const std::byte> bytes) noexcept : in_(bytes) {}

  expected<log_batch> read() {
    log_batch result;
    if (read_head(result) && read_columns(result.columns) && read_records(result) &&
        in_.finish("the last record"))
      return result;
    return in_.failure(where_);
  }

private:
  bool read_head(log_batch& out) {
    return in_.text(out.stream) && in_.text(out.writer) && in_.text(out.filter) &&
           in_.text(out.path);
  }

  bool read_columns(std::vector<log_column>& out) {
    std::uint32_t n = 0;
    in_.mark();
    if (!in_.number(n))
      return false;
    if (n > in_.remaining() / min_column_bytes)
      return in_.too_many(n, "columns");
    out.resize(n);
    for (std::size_t i = 0; i < out.size(); ++i) {
      in_.mark();
      where_ = "column " + std::to_string(i);
      if (!read_column(out[i]))
        return false;
    }
    return true;
  }

  bool read_column(log_column& out) {
    std::uint8_t has_second = 0;
    std::int32_t type = 0;
    std::int32_t subtype = 0;
    std::uint8_t optional = 0;
    if (!in_.number(has_second) || (has_second == 1 && !in_.text(out.secondary_name.emplace())) ||
        !in_.text(out.name) || !in_.number(type) || !in_.number(subtype) || !in_.number(optional))
      return false;
    if (!is_type_tag(type) || !is_type_tag(subtype))
      return in_.bad("there is no type " + std::to_string(is_type_tag(type) ? subtype : type));
    out.type = type_name(static_cast<type_tag>(type), static_cast<type_tag>(subtype));
    out.optional = optional == 1;
    return true;
  }

  bool read_records(log_batch& out) {
    std::uint32_t n = 0;
    where_ = "records";
    in_.mark();
    if (!in_.number(n))
      return false;
    if (n > 0 && out.columns.empty())
      return in_.bad("records without columns");
    if (n > 0 && n > in_.remaining() / (log_value_reader::min_value_bytes * out.columns.size()))
      return in_.too_many(n, "records");
    out.records.reserve(n);
    for (std::uint32_t i = 0; i < n; ++i) {
      auto& record = out.records.emplace_back(out.columns.size());
      for (std::size_t column = 0; column < record.size(); ++column)
        if (!in_.value(record[column])) {
          where_ = "record " + std::to_string(i) + ", column " + std::to_string(column);
          return false;
        }
    }
    return true;
  }

  log_value_reader in_;
  std::string where_ = "names";
};

} // namespace

expected<log_batch> parse_log_batch(std::span<const std::byte> bytes) {
  return batch_reader{bytes}.read();
}

} // namespace pubsub::zeek
