// What rules would do with the messages of a recording.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exit_code.hpp"
#include "rules/rule_screen.hpp"

namespace pubsub::tool {

/// Reads the recording and prints a line for each rule; time, for rate limits, is that of the
/// recording. `json`: an object a line.
exit_code dry_run(const std::string& recording, std::vector<rule> rules,
                  const std::optional<mask_key>& key, bool json);

} // namespace pubsub::tool
