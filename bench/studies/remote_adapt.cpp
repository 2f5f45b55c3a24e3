// SPDX-License-Identifier: BSD-3-Clause
#include "studies/remote_adapt.hpp"

#include "remote/remote_site.hpp"
#include "studies/remote_run.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace pubsub::tool::bench {

namespace {

constexpr double before_change_s = 1;
constexpr double after_change_s = 2;
constexpr double measured_s = 0.3;
constexpr double limit_s = 300;
constexpr double promised = 1.10;

remote_work load(operation_kind kind, std::size_t n, std::size_t size_bytes) {
  remote_work what;
  what.operation = kind;
  what.operations = n;
  what.size_bytes = size_bytes;
  return what;
}

/// What is measured right after the change is `auto`; the others do not learn.
remote_adapt_row change(remote_site& site, const std::string& from, const std::string& to,
                        const remote_work& what) {
  remote_adapt_row row;
  row.from = from;
  row.cell = {to, remote_sweep::operations, what};
  row.before_s = site.run({remote_mode::auto_, what, before_change_s}, limit_s).seconds;
  site.begin({remote_mode::auto_, what, after_change_s});
  site.change_network(to);
  (void)site.finish(limit_s);
  const auto own = site.run({remote_mode::auto_, what, measured_s}, limit_s);
  row.auto_s = own.seconds;
  row.plan = own.plan;
  row.best_s = INFINITY;
  for (const auto mode : fixed_remote_modes()) {
    if (mode == remote_mode::sync && what.operations > 100)
      continue; // is not the best, and takes long
    const auto takes = site.run({mode, what, measured_s}, limit_s).seconds;
    if (takes < row.best_s) {
      row.best_s = takes;
      row.best = mode;
    }
  }
  return row;
}

} // namespace

remote_adapt_result run_remote_adapt(std::size_t workers, const stop_signal& stop) {
  remote_adapt_result result;
  try {
    for (const auto& what :
         {load(operation_kind::noop, 10, 24), load(operation_kind::noop, 2'000, 24),
          load(operation_kind::faop, 20, 10'000)}) {
      remote_site site{"lan", workers, stop};
      result.rows.push_back(change(site, "lan", "wan", what));
      result.rows.push_back(change(site, "wan", "lan", what));
    }
  } catch (const remote_failure& why) {
    if (why.what_kind != remote_failure::kind::interrupted)
      result.failure = why.what();
  }
  return result;
}

void print_adapt(const std::vector<remote_adapt_row>& rows) {
  fmt::print("\ntwo seconds after the link has changed under a load\n  {:<12} {:<26} {:>10} {:>10} "
             "{:>10} {:<9} {:>6}\n",
             "", "", "before s", "auto s", "best s", "", "ratio");
  for (const auto& row : rows)
    fmt::print("  {:<12} {:<26} {:>10.4g} {:>10.4g} {:>10.4g} {:<9} {:>6.2f}\n",
               row.from + " -> " + row.cell.network,
               fmt::format("{} {} x {} bytes", to_string(row.cell.what.operation),
                           row.cell.what.operations, row.cell.what.size_bytes),
               row.before_s, row.auto_s, row.best_s, to_string(row.best), row.ratio());
}

std::vector<json_object> describe(const std::vector<remote_adapt_row>& rows) {
  std::vector<json_object> list;
  for (const auto& row : rows) {
    list.push_back(
        describe_remote("adapt", row.cell.network, row.cell.what, "auto", row.auto_s, NAN));
    list.back()
        .add("changed_from", row.from)
        .add("before_seconds", row.before_s)
        .add("bulk_operations", row.plan.bulk_operations)
        .add("window_operations", row.plan.window_operations)
        .add("best_mode", to_string(row.best))
        .add("best_seconds", row.best_s)
        .add("ratio", row.ratio());
  }
  return list;
}

remote_conclusion conclude(const std::vector<remote_adapt_row>& rows) {
  using verdict = remote_conclusion::verdict;
  remote_conclusion result{"ours: auto is within 10 % again 2 s after the link has changed",
                           verdict::not_measured, "not asked for"};
  if (rows.empty())
    return result;
  const auto worst = std::ranges::max_element(rows, {}, &remote_adapt_row::ratio);
  result.what = worst->ratio() <= promised ? verdict::holds : verdict::does_not_hold;
  result.figures =
      fmt::format("worst {:.2f}: {} x {} bytes, {} -> {}: {:.4g} s, {} {:.4g} s", worst->ratio(),
                  worst->cell.what.operations, worst->cell.what.size_bytes, worst->from,
                  worst->cell.network, worst->auto_s, to_string(worst->best), worst->best_s);
  return result;
}

} // namespace pubsub::tool::bench
