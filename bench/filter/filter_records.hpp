// The records of a Zeek log, as benchmarks of conditions use them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <pubsub/condition.hpp>

namespace pubsub::tool::bench {

/// The records of a log: encoded for us, and their lines with blanks for tabs for others.
struct filter_records {
  filter_records() = default;
  filter_records(filter_records&&) = default; // a copy's records would lie in the original

  std::string topic;
  std::vector<record_column> columns;
  std::vector<std::byte> memory; ///< one record behind the other
  std::vector<std::span<const std::byte>> encoded;
  std::vector<std::string> lines;
};

/// Of a log with a million records at most; what comes behind those is left.
expected<filter_records> read_records(const std::string& log);
/// With the columns of the log, so that they need not be announced; and with regular expressions,
/// where RE2 was found.
expected<condition> condition_on(const filter_records& records, const std::string& text);

} // namespace pubsub::tool::bench
