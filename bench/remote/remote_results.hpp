// What results of remote execution have in common: members of the report, and conclusions.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json_object.hpp"
#include "remote/remote_work.hpp"

namespace pubsub::tool::bench {

/// The members that every result has: where, what, how and in which time.
json_object describe_remote(std::string_view section, std::string_view network,
                            const remote_work& what, std::string_view mode, double seconds,
                            double modelled_s);

/// A claim, and whether what was measured says so too.
struct remote_conclusion {
  enum class verdict : unsigned char { holds, does_not_hold, not_measured };

  std::string claim;
  verdict what = verdict::not_measured;
  std::string figures; ///< that decide it
};

std::string_view to_string(remote_conclusion::verdict x) noexcept;

void print_conclusions(std::string_view title, const std::vector<remote_conclusion>& all);
std::vector<json_object> describe(const std::vector<remote_conclusion>& all);

} // namespace pubsub::tool::bench
