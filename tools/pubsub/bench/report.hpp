// Results of a benchmark, as a file for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <pubsub/error.hpp>

#include "bench/rate_meter.hpp"
#include "bench/sequence_checker.hpp"
#include "json_object.hpp"

namespace pubsub::tool::bench {

/// One configuration that was measured.
struct measurement {
  json_object labels; ///< what was varied, e.g. `relays`
  std::uint64_t payload_bytes = 0;
  rate_statistics rate;
  sequence_result sequence;
};

/// `{"schema":1,"benchmark":...,"machine":{...},"params":{...},"results":[...]}` with a line feed.
std::string report_text(std::string_view benchmark, const json_object& params,
                        const std::vector<measurement>& results);
/// Errors: cannot_write_file.
expected<void> write_report(const std::string& file, const std::string& text);

} // namespace pubsub::tool::bench
