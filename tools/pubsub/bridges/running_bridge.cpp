// SPDX-License-Identifier: BSD-3-Clause
#include "bridges/running_bridge.hpp"

#include "recording/moments.hpp"

#include <fmt/format.h>

namespace pubsub::tool {

namespace {

using bridge::bridge_counters;

struct metric {
  std::string_view name;
  std::string_view type;
  std::string_view help;
  std::uint64_t bridge_counters::*value;
};

constexpr metric metrics[] = {
    {"consumed_total", "counter", "Messages, tasks or records that a bridge has taken.",
     &bridge_counters::consumed},
    {"delivered_total", "counter", "Of those, confirmed by where they go to.",
     &bridge_counters::delivered},
    {"in_flight", "gauge", "Of those, not confirmed yet.", &bridge_counters::in_flight},
    {"dead_letters_total", "counter", "Of those rejected, kept as dead letters.",
     &bridge_counters::dead_letters},
    {"redelivered_total", "counter", "Of those taken, that may have been passed on before.",
     &bridge_counters::redelivered},
    {"bytes_total", "counter", "Bytes of the values that were delivered.", &bridge_counters::bytes},
    {"lag", "gauge", "Records that the engine has behind those that were taken.",
     &bridge_counters::lag},
};

void add_head(std::string& out, std::string_view name, std::string_view type,
              std::string_view help) {
  fmt::format_to(std::back_inserter(out),
                 "# HELP pubsub_bridge_{} {}\n# TYPE pubsub_bridge_{} {}\n", name, help, name,
                 type);
}

std::string label_text(std::string_view x) {
  std::string result;
  for (const char each : x)
    result += each == '"' || each == '\\' ? std::string{'\\', each} : std::string{each};
  return result;
}

} // namespace

expected<running_bridge> running_bridge::open(const endpoint& at, std::string name,
                                              const bridge_plan& plan) {
  if (const auto* const source = std::get_if<bridge::source_options>(&plan.what)) {
    auto made = bridge::source::open(at, plan.engine, *source);
    if (!made)
      return made.error();
    return running_bridge{std::move(name), std::move(*made)};
  }
  auto made = bridge::sink::open(at, plan.engine, std::get<bridge::sink_options>(plan.what));
  if (!made)
    return made.error();
  return running_bridge{std::move(name), std::move(*made)};
}

bridge_counters running_bridge::counters() const {
  return std::visit([](const auto& x) { return x.counters(); }, what_);
}

bool running_bridge::closed() const {
  return std::visit([](const auto& x) { return x.closed(); }, what_);
}

error running_bridge::failure() const {
  return std::visit([](const auto& x) { return x.failure(); }, what_);
}

std::string running_bridge::last_problem() const {
  return std::visit([](const auto& x) { return x.last_problem(); }, what_);
}

std::size_t running_bridge::drain(std::chrono::nanoseconds timeout) {
  auto* const sink = std::get_if<bridge::sink>(&what_);
  return sink != nullptr ? sink->drain(timeout) : 0;
}

void running_bridge::close() {
  std::visit([](auto& x) { x.close(); }, what_);
}

std::string summary_of(const bridge_counters& x) {
  std::string reasons;
  for (const auto& [name, n] : by_reason(x.rejected))
    if (n > 0)
      reasons += fmt::format("{}{} {}", reasons.empty() ? " (" : ", ", name, grouped(n));
  if (!reasons.empty())
    reasons += ')';
  return fmt::format("consumed {}, delivered {}, rejected {}{}, in flight {}", grouped(x.consumed),
                     grouped(x.delivered), grouped(x.rejected.total()), reasons,
                     grouped(x.in_flight));
}

json_object json_of(const bridge_counters& x) {
  json_object rejected;
  for (const auto& [name, n] : by_reason(x.rejected))
    if (n > 0)
      rejected.add(name, n);
  json_object result;
  result.add("consumed", x.consumed)
      .add("delivered", x.delivered)
      .add("rejected", rejected)
      .add("in_flight", x.in_flight)
      .add("dead_letters", x.dead_letters)
      .add("redelivered", x.redelivered)
      .add("bytes", x.bytes)
      .add("lag", x.lag);
  return result;
}

std::string metrics_of(const std::vector<const running_bridge*>& all) {
  std::string result;
  if (all.empty())
    return result;
  const auto out = std::back_inserter(result);
  const auto labels = [](const running_bridge& x) {
    return fmt::format("bridge=\"{}\",direction=\"{}\"", label_text(x.name()),
                       x.is_source() ? "source" : "sink");
  };
  std::vector<bridge_counters> counts;
  for (const auto* const each : all)
    counts.push_back(each->counters());
  for (const auto& each : metrics) {
    add_head(result, each.name, each.type, each.help);
    for (std::size_t i = 0; i < all.size(); ++i)
      fmt::format_to(out, "pubsub_bridge_{}{{{}}} {}\n", each.name, labels(*all[i]),
                     counts[i].*each.value);
  }
  add_head(result, "rejected_total", "counter",
           "Of those taken, that were not passed on, by reason.");
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const auto& [reason, n] : by_reason(counts[i].rejected))
      fmt::format_to(out, "pubsub_bridge_rejected_total{{{},reason=\"{}\"}} {}\n", labels(*all[i]),
                     reason, n);
  add_head(result, "up", "gauge", "Whether the bridge runs: 0 once it has come to its end.");
  for (const auto* const each : all)
    fmt::format_to(out, "pubsub_bridge_up{{{}}} {}\n", labels(*each), each->closed() ? 0 : 1);
  return result;
}

} // namespace pubsub::tool
