// Results of a benchmark, as a file for programs.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/error.hpp>

#include "exit_code.hpp"
#include "json_object.hpp"
#include "kit/rate_meter.hpp"
#include "stream/sequence_checker.hpp"

namespace pubsub::tool::bench {

/// One configuration that was measured.
struct measurement {
  json_object labels; ///< what was varied, e.g. `relays`
  std::uint64_t payload_bytes = 0;
  rate_statistics rate;
  sequence_result sequence;
};

/// `{"median":...,"min":...,"max":...,"samples":[...]}`.
json_object describe(const rate_statistics& x);
/// Adds what became of the messages.
void add_sequence(json_object& to, const sequence_result& x);
/// An element of `results`: the labels, rates and what became of the messages.
json_object describe(const measurement& x);

/// `{"schema":1,"benchmark":...,"machine":{...},"params":{...},"results":[...]}` with a line feed.
std::string report_text(std::string_view benchmark, const json_object& params,
                        const std::vector<measurement>& results);
/// As above with results that have members of their own.
std::string report_text(std::string_view benchmark, const json_object& params,
                        const std::vector<json_object>& results);
/// `-` is stdout. Errors: cannot_write_file.
expected<void> write_report(const std::string& file, const std::string& text);
/// Writes a report where one is asked for; complains if it cannot.
exit_code save_report(const std::string& file, std::string_view benchmark,
                      const json_object& params, const std::vector<json_object>& results);

} // namespace pubsub::tool::bench
