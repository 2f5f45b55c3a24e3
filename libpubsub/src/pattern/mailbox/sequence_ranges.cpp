#include "pattern/mailbox/sequence_ranges.hpp"

#include <algorithm>

namespace pubsub {

void sequence_set::insert(const sequence_range& all) {
  auto first = all.first;
  auto end = first + all.count;
  if (first <= low_)
    return raise(end);
  auto next = above_.lower_bound(first);
  if (next != above_.begin() && std::prev(next)->second >= first)
    first = (--next)->first;
  while (next != above_.end() && next->first <= end) {
    end = std::max(end, next->second);
    next = above_.erase(next);
  }
  above_.emplace_hint(next, first, end);
}

void sequence_set::raise(std::uint64_t low) {
  if (low <= low_)
    return;
  low_ = low;
  while (!above_.empty() && above_.begin()->first <= low_) {
    low_ = std::max(low_, above_.begin()->second);
    above_.erase(above_.begin());
  }
}

std::vector<sequence_range> sequence_set::above() const {
  std::vector<sequence_range> result;
  for (const auto& [first, end] : above_)
    result.push_back({first, end - first});
  return result;
}

} // namespace pubsub
