// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/client/connection_plan.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace pubsub::cluster {

namespace {

/// `prefixes` are sorted and none covers another. So what lies between a prefix of the topic and
/// the topic begins with that prefix too, and is not among them: only the last before it can be
/// one.
bool has_prefix_of(const std::vector<std::string>& prefixes, std::string_view topic) noexcept {
  const auto behind = std::ranges::upper_bound(prefixes, topic, std::less<>{});
  return behind != prefixes.begin() && topic.starts_with(*std::prev(behind));
}

/// Those that no other one of them covers. A prefix is sorted before all that it covers.
std::vector<std::string> shortest(const std::set<std::string>& all) {
  std::vector<std::string> result;
  for (const auto& each : all)
    if (result.empty() || !each.starts_with(result.back()))
      result.push_back(each);
  return result;
}

} // namespace

connection_step connection_plan::follow(const std::set<std::string>& wanted) {
  using enum connection_step::kind;
  if (opening_)
    return {};
  std::set<std::string> missing;
  std::ranges::copy_if(wanted, std::inserter(missing, missing.end()),
                       [this](const auto& each) { return !owner(each); });
  if (missing.empty() && !open_.empty())
    return {};
  replacing_ = open_.size() == max_connections;
  opening_ = shortest(replacing_ ? wanted : missing);
  return {replacing_ ? replace : open, *opening_};
}

void connection_plan::opened() {
  if (replacing_)
    open_.clear();
  replacing_ = false;
  open_.push_back(std::exchange(opening_, std::nullopt).value_or(prefixes{}));
}

std::optional<std::size_t> connection_plan::owner(std::string_view topic) const noexcept {
  for (std::size_t i = 0; i < open_.size(); ++i)
    if (has_prefix_of(open_[i], topic))
      return i;
  return {};
}

} // namespace pubsub::cluster
