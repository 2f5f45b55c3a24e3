// Finds out whether a numbered stream arrived complete, once, and in order.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>

namespace pubsub::tool::bench {

/// What became of a stream of `published` messages:
/// `published == delivered + missing` once the total is known.
struct sequence_result {
  std::uint64_t published = 0;
  std::uint64_t delivered = 0;  ///< different numbers seen
  std::uint64_t duplicated = 0; ///< arrivals of a number that was there already
  std::uint64_t reordered = 0;  ///< arrivals after a higher number; they count as delivered too
  std::uint64_t missing = 0;    ///< numbers that never came
  std::uint64_t unexpected = 0; ///< numbers at or beyond the total

  bool perfect() const noexcept { return missing + duplicated + reordered + unexpected == 0; }
  sequence_result& operator+=(const sequence_result& other) noexcept;
};

/// Takes the numbers 0, 1, 2, ... of one stream as they arrive. The expected case costs a
/// comparison; holes are kept as ranges, at most `max_holes` of them: beyond that the oldest one is
/// given up, and a number of it that still comes counts as a duplicate.
class sequence_checker {
public:
  explicit sequence_checker(std::size_t max_holes = 1 << 20) : max_holes_(max_holes) {}

  void visit(std::uint64_t number) {
    if (number == next_) [[likely]]
      ++next_;
    else
      visit_other(number);
  }

  /// The count so far if `published` messages were sent in all.
  sequence_result result(std::uint64_t published) const;
  /// Different numbers seen so far.
  std::uint64_t delivered() const noexcept { return next_ - missing_; }
  /// One beyond the highest number seen.
  std::uint64_t next() const noexcept { return next_; }

private:
  void visit_other(std::uint64_t number);
  bool fill_hole(std::uint64_t number);

  std::uint64_t next_ = 0;                       // one beyond the highest number seen
  std::uint64_t missing_ = 0;                    // numbers below next_ that have not come
  std::map<std::uint64_t, std::uint64_t> holes_; // [first, end) of what is missing below next_
  std::size_t max_holes_;
  std::uint64_t duplicated_ = 0;
  std::uint64_t reordered_ = 0;
};

} // namespace pubsub::tool::bench
