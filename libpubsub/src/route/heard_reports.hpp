// What the neighbours have reported of one node, and what of that does not count yet.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <pubsub/value/endpoint_id.hpp>

#include "route/reports.hpp"

namespace pubsub {

using shared_report = std::shared_ptr<const any_report>;

/// Each neighbour has a line of reports of its own for either kind, so that none changes what
/// another has said. Not thread-safe.
class heard_reports {
public:
  enum class news : std::uint8_t { waits, old, skips_a_number };

  /// `counts`: the newest report of that kind that counts. What is newer waits until `take` lets it
  /// count; what says only what is new is old where the report before it is not known.
  news add(const endpoint_id& from, any_report&& report, const report_version& counts) {
    auto& [newest, waiting] = line(said_[from], report);
    const auto version = version_of(report);
    const auto before = std::max(newest, counts);
    if (!header_of(report).whole) {
      if (before.second == 0 || version.first != before.first)
        return news::old;
      if (version.second > before.second + 1)
        return news::skips_a_number;
    }
    newest = std::max(newest, version);
    if (version <= counts)
      return news::old;
    waiting.push_back(std::make_shared<const any_report>(std::move(report)));
    return news::waits;
  }
  /// Whether the neighbour has made this report, or a later one.
  bool has_made(const endpoint_id& neighbour, const any_report& report) {
    const auto found = said_.find(neighbour);
    return found != said_.end() && line(found->second, report).newest >= version_of(report);
  }
  /// Offers what waits of a neighbour, of either kind in order, until `settle` returns false.
  /// Returns whether something waits still.
  template <class Settle>
  bool take(const endpoint_id& from, Settle settle) {
    bool left = false;
    for (auto& [newest, waiting] : said_[from]) {
      const auto end = std::ranges::find_if_not(waiting, settle);
      waiting.erase(waiting.begin(), end);
      left = left || !waiting.empty();
    }
    return left;
  }
  /// Forgets what the neighbour has said. Returns the bytes of what has waited.
  std::size_t remove(const endpoint_id& neighbour) {
    std::size_t bytes = 0;
    take(neighbour, [&](const shared_report& report) {
      bytes += bytes_of(*report);
      return true;
    });
    said_.erase(neighbour);
    return bytes;
  }

private:
  struct reports_of_a_kind {
    report_version newest;
    std::vector<shared_report> waiting;
  };
  using both_kinds = std::array<reports_of_a_kind, std::variant_size_v<any_report>>;

  static reports_of_a_kind& line(both_kinds& said, const any_report& x) { return said[x.index()]; }

  std::map<endpoint_id, both_kinds> said_;
};

} // namespace pubsub
