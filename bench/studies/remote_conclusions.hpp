// What article 004 concludes from its benchmarks, and whether what was measured says so too.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "remote/remote_results.hpp"
#include "studies/remote_report.hpp"

namespace pubsub::tool::bench {

/// The document's conclusions, one by one; then what is promised of ours: how far `auto` is from
/// the best fixed mode, and the models from what was measured.
std::vector<remote_conclusion> conclude(const std::vector<remote_cell_rows>& cells);

} // namespace pubsub::tool::bench
