// Any text as the lines of a log, for both forms that logs have.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "fuzz/check.hpp"

#include "zeek_logs/log_reader.hpp"
#include <pubsub/zeek/log_lines.hpp>

#include <algorithm>
#include <string_view>

namespace pubsub::fuzz {

/// Each line is refused with a reason, or has a value for each column known by then.
inline void try_lines(zeek::log_parser& parser, std::string_view text) {
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto record = parser.parse(line);
    if (!record) {
      check(!record.error().context().empty(), "an error says what is wrong");
      continue;
    }
    if (!*record)
      continue;
    check((*record)->size() == parser.schema().fields.size(), "a record has a value a column");
    check(parser.schema().version > 0 || (*record)->empty(), "columns are known before values");
    for (const auto& each : **record)
      check_bytes_give_back(each);
    check(zeek::make_log_fields_event(parser.schema()).is<vector>(), "columns can be told");
    const std::unique_ptr<zeek::log_lines> formats[] = {zeek::make_tsv_lines(),
                                                        zeek::make_json_lines({})};
    for (const auto& lines : formats) {
      std::string written;
      lines->add_record(parser.schema(), **record, written);
      check(written.find('\n') + 1 == written.size(), "a record is one line");
    }
  }
}

} // namespace pubsub::fuzz
