// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/filter.hpp>

#include <algorithm>

namespace pubsub {

filter::filter(std::initializer_list<topic> prefixes) {
  for (const auto& prefix : prefixes)
    add(prefix.string());
}

filter::filter(std::vector<std::string> prefixes) {
  std::ranges::sort(prefixes);
  for (auto& each : prefixes) // what one covers comes right after it
    if (prefixes_.empty() || !each.starts_with(prefixes_.back()))
      prefixes_.push_back(std::move(each));
}

bool filter::matches(std::string_view topic) const noexcept {
  // Entries that are prefixes of `topic` sort at or before it, and since none is a prefix of
  // another only the closest one can match.
  auto after = std::upper_bound(prefixes_.begin(), prefixes_.end(), topic);
  return after != prefixes_.begin() && topic.starts_with(*std::prev(after));
}

bool filter::add(std::string_view prefix) {
  if (matches(prefix))
    return false;
  auto first = std::lower_bound(prefixes_.begin(), prefixes_.end(), prefix);
  auto last = std::find_if_not(first, prefixes_.end(),
                               [&](const std::string& entry) { return entry.starts_with(prefix); });
  prefixes_.insert(prefixes_.erase(first, last), std::string{prefix});
  return true;
}

bool filter::add(const filter& other) {
  bool changed = false;
  for (const auto& prefix : other)
    changed |= add(prefix);
  return changed;
}

std::string to_string(const filter& x) {
  std::string result = "{";
  for (const auto& prefix : x)
    result += (result.size() > 1 ? ", " : "") + prefix;
  return result + "}";
}

} // namespace pubsub
