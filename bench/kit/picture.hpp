// Figures of a benchmark as a file, and drawn.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "exit_code.hpp"

namespace pubsub::tool::bench {

/// Writes `report` to `json_file` and has it drawn to `plot_file`, each where it is not empty; what
/// is drawn and has no file, or goes to stdout, is kept in `plot_file`.json. Drawing needs the
/// Python package. Complains about what fails.
exit_code save_and_draw(const std::string& report, const std::string& json_file,
                        const std::string& plot_file);

} // namespace pubsub::tool::bench
