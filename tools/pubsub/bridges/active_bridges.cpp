// SPDX-License-Identifier: BSD-3-Clause
#include "bridges/active_bridges.hpp"

#include "bridges/running_bridge.hpp"
#include "config_file.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

namespace pubsub::tool {

namespace {

constexpr std::chrono::seconds time_to_end{5};

/// What a table says, as `plan_of` has it.
expected<bridge_plan> plan_of(const bridge_text& text, bool beside_sources) {
  bridge_options options;
  options.engine = text.engine;
  CLI::App command;
  add_bridge_options(command, options);
  try {
    parse(command, text.arguments);
  } catch (const CLI::ParseError& problem) {
    return error{errc::invalid_argument, problem.what()};
  }
  options.sink.except_own = beside_sources;
  return plan_of(options);
}

bool is_source(const bridge_text& text) {
  return std::ranges::any_of(text.arguments,
                             [](const auto& each) { return each.starts_with("--from="); });
}

} // namespace

expected<std::vector<bridge_text>> read_bridges(const std::string& path) {
  bridge_options unused;
  const auto tables =
      read_config_tables(path, bridges_key, "engine", [&unused](const std::string& engine) {
        std::function<void(CLI::App&)> result;
        if (std::ranges::count(engine_names, engine) > 0)
          result = [&unused, engine](CLI::App& command) {
            unused.engine = engine;
            add_bridge_options(command, unused);
          };
        return result;
      });
  if (!tables)
    return tables.error();
  std::vector<bridge_text> result;
  for (const auto& each : *tables) {
    bridge_text text{each.name, each.kind, {}, each.place};
    for (const auto& entry : each.entries)
      text.arguments.insert(text.arguments.end(), entry.arguments.begin(), entry.arguments.end());
    if (const auto plan = plan_of(text, false); !plan)
      return error{plan.error().code(), fmt::format("{}: bridge '{}': {}", text.place, text.name,
                                                    plan.error().context())};
    result.push_back(std::move(text));
  }
  return result;
}

active_bridges::active_bridges(endpoint& ep) : ep_(ep) {}
active_bridges::~active_bridges() = default;

error active_bridges::change(const std::vector<bridge_text>& wanted) {
  const std::lock_guard lock{mutex_};
  const bool has_sources = std::ranges::any_of(wanted, is_source);
  for (auto& each : all_)
    if (std::ranges::count(wanted, each.text) == 0)
      end(each);
  std::erase_if(all_, [](const one& x) { return x.bridge == nullptr; });
  for (const auto& each : wanted) {
    if (std::ranges::count(all_, each, &one::text) > 0)
      continue;
    const auto plan = plan_of(each, has_sources);
    auto made =
        plan ? running_bridge::open(ep_, each.name, *plan) : expected<running_bridge>{plan.error()};
    if (!made)
      return {made.error().code(),
              fmt::format("bridge '{}': {}", each.name, made.error().context())};
    all_.push_back({each, std::make_unique<running_bridge>(std::move(*made)), {}});
  }
  return {};
}

void active_bridges::end(one& x) {
  static_cast<void>(x.bridge->drain(time_to_end));
  x.bridge->close();
  x.bridge.reset();
}

void active_bridges::stop() {
  const std::lock_guard lock{mutex_};
  for (auto& each : all_) {
    static_cast<void>(each.bridge->drain(time_to_end));
    each.bridge->close();
  }
}

std::string active_bridges::metrics() const {
  const std::lock_guard lock{mutex_};
  std::vector<const running_bridge*> all;
  std::ranges::transform(all_, std::back_inserter(all),
                         [](const one& x) { return x.bridge.get(); });
  return metrics_of(all);
}

std::vector<std::string> active_bridges::totals() const {
  const std::lock_guard lock{mutex_};
  std::vector<std::string> result;
  for (const auto& each : all_)
    result.push_back(fmt::format("{}: {}", each.text.name, summary_of(each.bridge->counters())));
  return result;
}

std::vector<std::string> active_bridges::problems() {
  const std::lock_guard lock{mutex_};
  std::vector<std::string> result;
  for (auto& each : all_) {
    const auto failure = each.bridge->failure();
    auto problem = failure ? "has ended: " + failure.message() : each.bridge->last_problem();
    if (problem != each.problem && !problem.empty())
      result.push_back(fmt::format("{}: {}", each.text.name, printable(problem)));
    each.problem = std::move(problem);
  }
  return result;
}

} // namespace pubsub::tool
