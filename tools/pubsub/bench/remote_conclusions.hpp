// What is concluded of the modes from their models, and whether what was measured says so too.
#pragma once

#include <string>
#include <vector>

#include "bench/remote_report.hpp"
#include "json_object.hpp"

namespace pubsub::tool::bench {

struct remote_conclusion {
  enum class verdict : unsigned char { holds, does_not_hold, not_measured };

  std::string claim;
  verdict what = verdict::not_measured;
  std::string figures; ///< that decide it
};

std::string_view to_string(remote_conclusion::verdict x) noexcept;

/// The document's conclusions, one by one; then what is promised of ours: how far `auto` is from
/// the best fixed mode, and the models from what was measured.
std::vector<remote_conclusion> conclude(const std::vector<remote_cell_rows>& cells);

void print_conclusions(const std::vector<remote_conclusion>& all);
std::vector<json_object> describe(const std::vector<remote_conclusion>& all);

} // namespace pubsub::tool::bench
