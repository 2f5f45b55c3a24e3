// The values whose encoding and decoding is measured.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <pubsub/data.hpp>
#include <pubsub/error.hpp>

namespace pubsub::tool::bench {

struct codec_sample {
  std::string name;
  data value;
};

/// One value of each type; containers hold five members.
std::vector<codec_sample> samples_of_all_types();

/// The event of a log's record with the most columns set, as `pub --zeek-log` would send it; the
/// name says how many there are. Errors: cannot_open_file, not_supported, invalid_data (no record).
expected<codec_sample> sample_of_log(const std::string& file);

} // namespace pubsub::tool::bench
