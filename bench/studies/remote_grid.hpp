// The grid of `bench remote-study`: what is varied, on which network.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "remote/remote_work.hpp"

namespace pubsub::tool::bench {

/// What a cell belongs to.
enum class remote_sweep : unsigned char {
  operations, ///< operations of 24 bytes, more and more
  size,       ///< longer and longer results
  split,      ///< the same operations in more and more parts
  work,       ///< operations that take time
};

std::string_view to_string(remote_sweep x) noexcept;

struct remote_cell {
  std::string network; ///< loopback, lan or wan
  remote_sweep sweep = remote_sweep::operations;
  remote_work what;

  /// Where operations differ, or what they are: what rows of one table have in common.
  std::string series() const;
  /// What tells it from the others of its series, e.g. `10000`.
  std::string place() const;
  /// Both.
  std::string title() const;
};

enum class remote_extent : unsigned char { quick, usual };

/// The cells of a network, in the order of measurement: slow ones late.
std::vector<remote_cell> make_remote_grid(const std::string& network, remote_extent extent);
/// The modes that tell something in a cell.
std::vector<remote_mode> modes_of(const remote_cell& cell);

} // namespace pubsub::tool::bench
