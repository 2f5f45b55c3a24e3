#include "pattern/mailbox/number_runs.hpp"

#include <algorithm>

namespace pubsub {

bool number_set::contains(std::uint64_t number) const noexcept {
  if (number < low_)
    return true;
  const auto next = above_.upper_bound(number);
  return next != above_.begin() && number < std::prev(next)->second;
}

bool number_set::insert(std::uint64_t number) {
  if (extend(number, 1))
    return true;
  if (contains(number))
    return false;
  insert(number_run{number, 1});
  return true;
}

void number_set::insert(const number_run& all) {
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

void number_set::raise(std::uint64_t low) {
  if (low <= low_)
    return;
  low_ = low;
  while (!above_.empty() && above_.begin()->first <= low_) {
    low_ = std::max(low_, above_.begin()->second);
    above_.erase(above_.begin());
  }
}

std::vector<number_run> number_set::above() const {
  std::vector<number_run> result;
  for (const auto& [first, end] : above_)
    result.push_back({first, end - first});
  return result;
}

} // namespace pubsub
