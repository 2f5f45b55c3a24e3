// SPDX-License-Identifier: BSD-3-Clause
#include "record/numbered_files.hpp"

#include <filesystem>

namespace pubsub::record {

expected<output_file> numbered_files::next(const mcap::text_map& about) {
  ++last_;
  if (last_ == 1 && which_ == numbering::from_second)
    return output_file::create(path_, existing_, about);
  for (;; ++last_) {
    const auto path = numbered(path_, last_);
    std::error_code unknown;
    const bool there = std::filesystem::exists(path, unknown) && !unknown;
    if (there && existing_ == existing_file::refuse)
      continue;
    return output_file::create(path, existing_, about);
  }
}

} // namespace pubsub::record
