// Sequence numbers that mostly follow one another, kept as ranges. Pure: no I/O, no threads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <tuple>
#include <vector>

namespace pubsub {

/// `count` numbers from `first` on.
struct sequence_range {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  friend bool operator==(const sequence_range&, const sequence_range&) = default;
  static auto fields(auto& x) { return std::tie(x.first, x.count); }
  bool adds_up() const { return count > 0 && first + count >= first; }
};

/// Calls `each` with the runs of the `n` numbers behind the first `skipped` of all runs; a run is
/// what has `first` and `count`.
template <class Run, class Each>
void for_each_part(const std::vector<Run>& all, std::uint64_t skipped, std::uint64_t n,
                   Each&& each) {
  for (auto run = all.begin(); run != all.end() && n > 0; ++run) {
    auto part = *run;
    const auto before = std::min(skipped, part.count);
    part.first += before;
    part.count = std::min(part.count - before, n);
    skipped -= before;
    n -= part.count;
    if (part.count > 0)
      each(part);
  }
}

/// Numbers in the order in which they were appended.
class sequence_list {
public:
  void append(const sequence_range& more) {
    size_ += more.count;
    if (!runs_.empty() && runs_.back().first + runs_.back().count == more.first)
      runs_.back().count += more.count;
    else
      runs_.push_back(more);
  }
  void append(std::uint64_t number) { append(sequence_range{number, 1}); }
  std::size_t size() const noexcept { return size_; }
  const std::vector<sequence_range>& runs() const noexcept { return runs_; }
  void clear() noexcept {
    runs_.clear();
    size_ = 0;
  }

private:
  std::vector<sequence_range> runs_;
  std::size_t size_ = 0;
};

/// A set of numbers, as its runs. Mostly it is complete from below.
class sequence_set {
public:
  void insert(const sequence_range& all) {
    insert(all, [](const sequence_range&) {});
  }
  /// Inserts these, and calls `each` with the runs of those that were not in.
  template <class Each>
  void insert(const sequence_range& all, Each&& each) {
    if (all.count == 0)
      return;
    const auto last = all.first + all.count;
    auto next = runs_.upper_bound(all.first);
    const bool grows = next != runs_.begin() && std::prev(next)->second >= all.first;
    auto& end = (grows ? std::prev(next) : runs_.emplace_hint(next, all.first, all.first))->second;
    const auto grow_to = [&](std::uint64_t to) {
      if (end < to)
        each(sequence_range{end, to - end});
      end = std::max(end, to);
    };
    for (; next != runs_.end() && next->first <= last; next = runs_.erase(next)) {
      grow_to(next->first);
      end = std::max(end, next->second);
    }
    grow_to(last);
  }
  /// Everything below `low` is in.
  void raise(std::uint64_t low) { insert({0, low}); }
  /// The first number that is not in.
  std::uint64_t low() const noexcept {
    return !runs_.empty() && runs_.begin()->first == 0 ? runs_.begin()->second : 0;
  }
  /// The runs above `low()`.
  std::vector<sequence_range> above() const {
    std::vector<sequence_range> result;
    for (const auto& [first, end] : runs_)
      if (first > 0)
        result.push_back({first, end - first});
    return result;
  }

private:
  std::map<std::uint64_t, std::uint64_t> runs_; // first -> end; they do not touch
};

} // namespace pubsub
