// The index at the end of an MCAP file, where there is one that is right.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <pubsub/error.hpp>

#include "record/input_file.hpp"
#include "record/mcap.hpp"

namespace pubsub::record {

struct file_index {
  std::vector<mcap::channel> channels;
  std::vector<mcap::chunk_index> chunks; ///< in the order of the file
  std::vector<mcap::metadata_index> metadata;
  mcap::statistics statistics;
};

/// Why a file without an index has none.
struct no_index {
  std::string reason;
  bool ended = false; ///< the file is whole: its writer has left the index out
};

/// Exactly one of the two. Nothing in it is believed that the file does not hold.
struct index_or_reason {
  std::optional<file_index> index;
  no_index missing;
};

/// Errors: cannot_open_file (reading failed).
expected<index_or_reason> read_index(const input_file& file);

} // namespace pubsub::record
