// SPDX-License-Identifier: BSD-3-Clause
#include "stream/sequence_checker.hpp"

#include <iterator>

namespace pubsub::tool::bench {

sequence_result& sequence_result::operator+=(const sequence_result& other) noexcept {
  published += other.published;
  delivered += other.delivered;
  duplicated += other.duplicated;
  reordered += other.reordered;
  missing += other.missing;
  unexpected += other.unexpected;
  return *this;
}

void sequence_checker::visit_other(std::uint64_t number) {
  if (number > next_) {
    missing_ += number - next_;
    holes_.emplace(next_, number);
    next_ = number + 1;
    if (holes_.size() > max_holes_)
      holes_.erase(holes_.begin());
  } else if (fill_hole(number)) {
    --missing_;
    ++reordered_;
  } else {
    ++duplicated_;
  }
}

bool sequence_checker::fill_hole(std::uint64_t number) {
  auto after = holes_.upper_bound(number);
  if (after == holes_.begin())
    return false;
  auto hole = std::prev(after);
  auto [first, end] = *hole;
  if (number >= end)
    return false;
  holes_.erase(hole);
  if (first < number)
    holes_.emplace(first, number);
  if (number + 1 < end)
    holes_.emplace(number + 1, end);
  return true;
}

sequence_result sequence_checker::result(std::uint64_t published) const {
  sequence_result result;
  result.published = published;
  result.duplicated = duplicated_;
  result.reordered = reordered_;
  auto seen = delivered();
  if (next_ <= published) {
    result.delivered = seen;
    result.missing = published - seen;
    return result;
  }
  // Numbers beyond the total came: count apart what does not belong to the stream.
  std::uint64_t beyond = next_ - published;
  for (auto [first, end] : holes_)
    if (end > published)
      beyond -= end - (first < published ? published : first);
  result.unexpected = beyond;
  result.delivered = seen - beyond;
  result.missing = published - result.delivered;
  return result;
}

} // namespace pubsub::tool::bench
