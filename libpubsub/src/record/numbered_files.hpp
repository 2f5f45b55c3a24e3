// The files of a recording, one after the other.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include <pubsub/error.hpp>
#include <pubsub/record/recording_options.hpp>

#include "record/mcap.hpp"
#include "record/output_file.hpp"

namespace pubsub::record {

enum class numbering : std::uint8_t {
  always,
  from_second, ///< the first file has the name as it was given
};

class numbered_files {
public:
  numbered_files(std::string path, existing_file existing, numbering which)
      : path_(std::move(path)), existing_(existing), which_(which) {}

  /// Creates the next file; numbers whose file is to stay are passed over. Errors:
  /// cannot_write_file.
  expected<output_file> next(const mcap::text_map& about);

private:
  std::string path_;
  existing_file existing_;
  numbering which_;
  unsigned last_ = 0;
};

} // namespace pubsub::record
