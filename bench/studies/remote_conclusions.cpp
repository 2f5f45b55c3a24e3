// SPDX-License-Identifier: BSD-3-Clause
#include "studies/remote_conclusions.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace pubsub::tool::bench {

namespace {

using verdict = remote_conclusion::verdict;
using cells = std::vector<remote_cell_rows>;

constexpr double noise = 1.05;         // so much slower is as fast
constexpr double far = 5;              // so many times slower is far behind
constexpr double of_models = 0.15;     // promised
constexpr std::size_t several = 10;    // operations, where latency can be hidden
constexpr std::size_t large = 100'000; // bytes of a result

/// Of the article: hybrid lies between them.
const std::vector<remote_mode> article_modes{remote_mode::sync, remote_mode::bulk,
                                             remote_mode::async, remote_mode::pipeline};

std::string where(const remote_cell_rows& cell) {
  return fmt::format("{} {} {} x {} bytes", cell.cell.network, to_string(cell.cell.what.operation),
                     cell.cell.what.operations, cell.cell.what.size_bytes);
}

std::string seconds_of(const remote_cell_rows& cell, remote_mode mode) {
  const auto x = cell.measured(mode);
  return x ? fmt::format("{} {:.4g} s", to_string(mode), *x)
           : fmt::format("{} not measured", to_string(mode));
}

template <class Wanted>
cells pick(const cells& all, Wanted wanted) {
  cells result;
  std::ranges::copy_if(all, std::back_inserter(result), wanted);
  return result;
}

remote_conclusion decide(std::string claim, bool any, bool holds, std::string figures) {
  if (!any)
    return {std::move(claim), verdict::not_measured, "no such cell was measured"};
  return {std::move(claim), holds ? verdict::holds : verdict::does_not_hold, std::move(figures)};
}

/// Whether a mode is the fastest of the article's in each of the cells, and by how much.
remote_conclusion best_in(std::string claim, remote_mode mode, const cells& in) {
  bool any = false;
  bool holds = true;
  std::vector<std::string> figures;
  for (const auto& cell : in) {
    const auto own = cell.measured(mode);
    const auto* best = cell.fastest(article_modes);
    if (!own || best == nullptr)
      continue;
    any = true;
    holds = holds && *own <= noise * best->median();
    auto text = fmt::format("{}: {}", where(cell), seconds_of(cell, mode));
    if (best->mode != mode)
      text += fmt::format(", {} {:.4g} s", to_string(best->mode), best->median());
    figures.push_back(std::move(text));
  }
  return decide(std::move(claim), any, holds, fmt::format("{}", fmt::join(figures, "; ")));
}

remote_conclusion bulk_for_small(const cells& all) {
  return best_in("LAN: bulk is best for many small operations", remote_mode::bulk,
                 pick(all, [](const auto& x) {
                   return x.cell.network == "lan" && x.cell.sweep == remote_sweep::operations &&
                          x.cell.what.operations >= several;
                 }));
}

remote_conclusion async_for_large(const cells& all) {
  return best_in("LAN NOOP: async is best for large responses", remote_mode::async,
                 pick(all, [](const auto& x) {
                   return x.cell.network == "lan" && x.cell.sweep == remote_sweep::size &&
                          x.cell.what.operation == operation_kind::noop &&
                          x.cell.what.size_bytes >= large;
                 }));
}

/// The article sees it in LAN FAOP; operations that take time show it most.
remote_conclusion pipeline_with_work(const cells& all) {
  return best_in("pipeline is best where operations take time", remote_mode::pipeline,
                 pick(all, [](const auto& x) {
                   return x.cell.network != "loopback" && x.cell.sweep == remote_sweep::work;
                 }));
}

remote_conclusion sync_on_wan(const cells& all) {
  bool any = false;
  bool holds = true;
  std::vector<std::string> figures;
  for (const auto& cell : all) {
    if (cell.cell.network != "wan" || cell.cell.sweep != remote_sweep::operations ||
        cell.cell.what.operations < several)
      continue;
    const auto own = std::ranges::find(cell.rows, remote_mode::sync, &remote_row::mode);
    const auto* best = cell.fastest(fixed_remote_modes());
    if (own == cell.rows.end() || best == nullptr)
      continue;
    any = true;
    const auto takes = own->measured() ? own->median() : own->modelled_s;
    holds = holds && takes > far * best->median();
    figures.push_back(fmt::format("{} operations: {:.0f} times {} ({:.4g} s{})",
                                  cell.cell.what.operations, takes / best->median(),
                                  to_string(best->mode), takes,
                                  own->measured() ? "" : " by the model"));
  }
  return decide(fmt::format("WAN: sync falls behind, by more than {} times", far), any, holds,
                fmt::format("{}", fmt::join(figures, "; ")));
}

/// Of one network: async divided by bulk, few operations and many.
remote_conclusion async_with_many(const cells& all) {
  std::vector<std::pair<std::size_t, double>> ratios;
  for (const auto& cell : all)
    if (cell.cell.network == "lan" && cell.cell.sweep == remote_sweep::operations) {
      const auto async = cell.measured(remote_mode::async);
      const auto bulk = cell.measured(remote_mode::bulk);
      if (async && bulk)
        ratios.emplace_back(cell.cell.what.operations, *async / *bulk);
    }
  std::string figures = "async / bulk:";
  for (const auto& [n, ratio] : ratios)
    figures += fmt::format(" {:.2f} at {}", ratio, n);
  return decide(
      "LAN: async falls back with the number of operations, bulk gains", ratios.size() > 1,
      ratios.size() > 1 && ratios.back().second > ratios.front().second, std::move(figures));
}

remote_conclusion transport_on_wan(const cells& all) {
  const std::string claim =
      "WAN FAOP: with long responses the transport dominates, whatever the mode";
  const remote_cell_rows* longest = nullptr;
  for (const auto& cell : all)
    if (cell.cell.network == "wan" && cell.cell.sweep == remote_sweep::size &&
        cell.cell.what.size_bytes >= large && cell.fastest(article_modes) != nullptr &&
        (longest == nullptr || cell.cell.what.size_bytes > longest->cell.what.size_bytes))
      longest = &cell;
  if (longest == nullptr)
    return decide(claim, false, false, "");
  double least = INFINITY;
  double most = 0;
  for (const auto mode : article_modes)
    if (const auto x = longest->measured(mode)) {
      least = std::min(least, *x);
      most = std::max(most, *x);
    }
  return decide(
      claim, true, most <= 1.5 * least,
      fmt::format("{}: {:.4g} s at best, {:.4g} s at worst", where(*longest), least, most));
}

remote_conclusion auto_near_best(const cells& all) {
  const remote_cell_rows* worst = nullptr;
  std::size_t within = 0;
  std::size_t measured = 0;
  for (const auto& cell : all)
    if (const auto ratio = cell.auto_ratio()) {
      ++measured;
      within += *ratio <= promised_auto_ratio;
      if (worst == nullptr || *ratio > *worst->auto_ratio())
        worst = &cell;
    }
  std::string figures;
  if (worst != nullptr) {
    const auto* best = worst->fastest(fixed_remote_modes());
    figures =
        fmt::format("{} of {} cells within; worst {:.2f} in {}: {}, {} {:.4g} s", within, measured,
                    *worst->auto_ratio(), worst->cell.title(),
                    seconds_of(*worst, remote_mode::auto_), to_string(best->mode), best->median());
  }
  return decide("ours: auto is within 10 % of the best fixed mode in every cell", measured > 0,
                within == measured, figures);
}

remote_conclusion models_near(const cells& all, remote_mode mode) {
  std::size_t within = 0;
  std::size_t measured = 0;
  double most = 0;
  std::string worst;
  for (const auto& cell : all)
    for (const auto& row : cell.rows) {
      if (row.mode != mode || !row.measured())
        continue;
      const auto off = row.modelled_s / row.median() - 1;
      ++measured;
      within += std::abs(off) <= of_models;
      if (std::abs(off) >= std::abs(most)) {
        most = off;
        worst = cell.cell.title();
      }
    }
  return decide(fmt::format("ours: the model of {} is within 15 % in every cell", to_string(mode)),
                measured > 0, within == measured,
                fmt::format("{} of {} cells within; most off {:+.0f} % in {}", within, measured,
                            most * 100, worst));
}

} // namespace

std::vector<remote_conclusion> conclude(const std::vector<remote_cell_rows>& all) {
  return {bulk_for_small(all),
          async_for_large(all),
          pipeline_with_work(all),
          sync_on_wan(all),
          async_with_many(all),
          transport_on_wan(all),
          auto_near_best(all),
          models_near(all, remote_mode::bulk),
          models_near(all, remote_mode::pipeline)};
}

} // namespace pubsub::tool::bench
