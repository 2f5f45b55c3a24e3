// SPDX-License-Identifier: BSD-3-Clause
#include "studies/remote_grid.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace pubsub::tool::bench {

namespace {

using counts = std::vector<std::size_t>;

class grid_maker {
public:
  grid_maker(const std::string& network, remote_extent extent)
      : network_(network), quick_(extent == remote_extent::quick), wan_(network == "wan") {}

  std::vector<remote_cell> make() {
    const auto small = wan_ ? operation_kind::faop : operation_kind::noop;
    add_operations(small);
    if (!wan_)
      add_sizes(operation_kind::noop);
    add_sizes(operation_kind::faop);
    add_work();
    add_split(small);
    return std::move(cells_);
  }

private:
  remote_work& add(remote_sweep sweep, operation_kind kind, std::size_t n) {
    auto& what = cells_.emplace_back(remote_cell{network_, sweep, {}}).what;
    what.operation = kind;
    what.operations = n;
    return what;
  }

  void add_operations(operation_kind kind) {
    const counts usual{1, 10, 100, 1'000, 10'000, 100'000};
    const counts quick{1, 10, 1'000};
    for (const auto n : quick_ ? quick : usual)
      add(remote_sweep::operations, kind, n);
  }

  void add_sizes(operation_kind kind) {
    const counts usual{24, 1'000, 10'000, 100'000, 1'000'000};
    const counts quick{24, 10'000, wan_ ? 50'000u : 1'000'000u};
    const std::size_t n = wan_ ? 10 : quick_ ? 20 : 100;
    for (const auto size : quick_ ? quick : usual)
      add(remote_sweep::size, kind, n).size_bytes = size;
  }

  // As long as the transfer of a result, about, and longer.
  void add_work() {
    const counts micros = wan_ ? counts{1'000, 10'000} : counts{20, 200, 1'000};
    for (const auto each : micros) {
      auto& what = add(remote_sweep::work, operation_kind::noop, wan_ || quick_ ? 20 : 100);
      what.size_bytes = wan_ ? 5'000 : 50'000;
      what.work = std::chrono::microseconds{each};
    }
  }

  void add_split(operation_kind kind) {
    const std::size_t n = quick_ ? 1'000 : 100'000;
    for (std::size_t parts = 1; parts <= n; parts *= 10)
      add(remote_sweep::split, kind, n).parts = parts;
  }

  const std::string network_;
  const bool quick_;
  const bool wan_;
  std::vector<remote_cell> cells_;
};

} // namespace

std::string_view to_string(remote_sweep x) noexcept {
  switch (x) {
  case remote_sweep::operations:
    return "operations";
  case remote_sweep::size:
    return "size";
  case remote_sweep::split:
    return "split";
  case remote_sweep::work:
    return "work";
  }
  return "";
}

std::string remote_cell::series() const {
  const auto who = fmt::format("{}, {}", network, to_string(what.operation));
  switch (sweep) {
  case remote_sweep::operations:
    return fmt::format("{}: operations of {} bytes", who, what.size_bytes);
  case remote_sweep::size:
    return fmt::format("{}: bytes of a result, {} operations", who, what.operations);
  case remote_sweep::split:
    return fmt::format("{}: {} operations in so many parts, one after the other", who,
                       what.operations);
  case remote_sweep::work:
    return fmt::format("{}: microseconds of work, {} operations of {} bytes", who, what.operations,
                       what.size_bytes);
  }
  return who;
}

std::string remote_cell::place() const {
  switch (sweep) {
  case remote_sweep::operations:
    return std::to_string(what.operations);
  case remote_sweep::size:
    return std::to_string(what.size_bytes);
  case remote_sweep::split:
    return std::to_string(what.parts);
  case remote_sweep::work:
    return std::to_string(what.work.count());
  }
  return {};
}

std::string remote_cell::title() const {
  return series() + ": " + place();
}

std::vector<remote_cell> make_remote_grid(const std::string& network, remote_extent extent) {
  return grid_maker{network, extent}.make();
}

std::vector<remote_mode> modes_of(const remote_cell& cell) {
  if (cell.sweep == remote_sweep::split)
    return {remote_mode::bulk, remote_mode::pipeline, remote_mode::hybrid, remote_mode::auto_};
  return {std::begin(all_remote_modes), std::end(all_remote_modes)};
}

} // namespace pubsub::tool::bench
