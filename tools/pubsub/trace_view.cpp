// SPDX-License-Identifier: BSD-3-Clause
#include "trace_view.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace pubsub::tool {

namespace {

std::string count_of(std::uint64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

std::string_view said_of(trace_outcome x) noexcept {
  switch (x) {
  case trace_outcome::reached:
    return "";
  case trace_outcome::broker_peer:
    return "speaks version 1 and cannot be asked; messages go there";
  case trace_outcome::refused:
    return "does not tell";
  case trace_outcome::out_of_reach:
    return "is out of reach";
  case trace_outcome::no_answer:
    return "has not answered";
  }
  return "";
}

/// What there is to say of one node behind its name.
std::vector<std::string> facts_of(const trace_hop& x) {
  std::vector<std::string> result;
  if (x.outcome != trace_outcome::reached)
    result.emplace_back(said_of(x.outcome));
  else if (!x.from.is_nil())
    result.push_back(fmt::format("{:.2f} ms", static_cast<double>(x.round_trip.count()) / 1000));
  if (x.queued > 0)
    result.push_back(count_of(x.queued, "message") + " queued for it");
  if (x.subscribers > 0)
    result.push_back(count_of(x.subscribers, "subscriber"));
  if (x.waiting > 0)
    result.push_back(count_of(x.waiting, "message") + " waiting to be read");
  return result;
}

class tree {
public:
  explicit tree(std::span<const trace_hop> hops) : hops_(hops), shown_(hops.size()) {}

  std::string text() {
    for (const auto each : those_behind({}))
      add(each, "", "");
    return result_;
  }

private:
  /// Each hop comes once, whatever nodes say: two that name each other are no circle.
  std::vector<std::size_t> those_behind(const endpoint_id& node) {
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < hops_.size(); ++i)
      if (hops_[i].from == node && !shown_[i]) {
        shown_[i] = true;
        result.push_back(i);
      }
    return result;
  }

  void add(std::size_t number, const std::string& before, const std::string& below) {
    const auto& x = hops_[number];
    result_ += fmt::format("{}{}  {}\n", before, x.name.empty() ? to_string(x.node) : x.name,
                           fmt::join(facts_of(x), ", "));
    while (result_.ends_with(" \n"))
      result_.erase(result_.size() - 2, 1);
    const auto next = those_behind(x.node);
    const auto* const bar = next.empty() ? "   " : "│  ";
    for (const auto& remark : x.remarks)
      result_ += fmt::format("{}{}! {}\n", below, bar, remark);
    for (const auto each : next) {
      const bool last = each == next.back();
      add(each, below + (last ? "└─ " : "├─ "), below + (last ? "   " : "│  "));
    }
  }

  const std::span<const trace_hop> hops_;
  std::vector<bool> shown_;
  std::string result_;
};

} // namespace

std::string tree_of(std::span<const trace_hop> hops) {
  return tree{hops}.text();
}

exit_code outcome_of(std::span<const trace_hop> hops) {
  const auto gets_it = [](const trace_hop& x) {
    return x.subscribers > 0 || x.outcome == trace_outcome::broker_peer;
  };
  if (std::ranges::count(hops, trace_outcome::no_answer, &trace_hop::outcome) > 0)
    return exit_code::timeout;
  return std::ranges::any_of(hops, gets_it) ? exit_code::ok : exit_code::loss;
}

} // namespace pubsub::tool
