// SPDX-License-Identifier: BSD-3-Clause
#include "remote/remote_results.hpp"

#include <fmt/format.h>

namespace pubsub::tool::bench {

using verdict = remote_conclusion::verdict;

json_object describe_remote(std::string_view section, std::string_view network,
                            const remote_work& what, std::string_view mode, double seconds,
                            double modelled_s) {
  json_object result;
  result.add("section", section)
      .add("network", network)
      .add("operation", to_string(what.operation))
      .add("operations", what.operations)
      .add("size_bytes", what.size_bytes)
      .add("parts", what.parts)
      .add("work_us", static_cast<double>(what.work.count()))
      .add("mode", mode)
      .add("seconds", seconds)
      .add("modelled_seconds", modelled_s);
  return result;
}

std::string_view to_string(remote_conclusion::verdict x) noexcept {
  switch (x) {
  case verdict::holds:
    return "holds";
  case verdict::does_not_hold:
    return "does not hold";
  case verdict::not_measured:
    break;
  }
  return "not measured";
}

void print_conclusions(std::string_view title, const std::vector<remote_conclusion>& all) {
  fmt::print("\n{}\n", title);
  for (const auto& x : all)
    fmt::print("  {:<14} {}\n  {:<14}   {}\n", to_string(x.what), x.claim, "", x.figures);
}

std::vector<json_object> describe(const std::vector<remote_conclusion>& all) {
  std::vector<json_object> list;
  for (const auto& x : all)
    list.emplace_back()
        .add("claim", x.claim)
        .add("verdict", to_string(x.what))
        .add("figures", x.figures);
  return list;
}

} // namespace pubsub::tool::bench
