// Sequence numbers that mostly follow one another, kept as ranges. Pure: no I/O, no threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

namespace pubsub {

/// `count` numbers from `first` on.
struct sequence_range {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  friend bool operator==(const sequence_range&, const sequence_range&) = default;
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

/// A set of numbers that begins to be complete from below: what is below `low()` is in it.
class sequence_set {
public:
  /// False if it was in.
  bool insert(std::uint64_t number) {
    if (number == low_ && above_.empty()) {
      ++low_;
      return true;
    }
    bool fresh = false;
    insert(sequence_range{number, 1}, [&](const sequence_range&) { fresh = true; });
    return fresh;
  }
  void insert(const sequence_range& all);
  /// Inserts these, and calls `each` with the runs of those that were not in.
  template <class Each>
  void insert(const sequence_range& all, Each&& each) {
    const auto end = all.first + all.count;
    auto first = std::max(all.first, low_);
    auto next = above_.upper_bound(first);
    if (next != above_.begin())
      first = std::max(first, std::prev(next)->second);
    for (; first < end && next != above_.end(); ++next) {
      if (first < next->first)
        each(sequence_range{first, std::min(end, next->first) - first});
      first = next->second;
    }
    if (first < end)
      each(sequence_range{first, end - first});
    insert(all);
  }
  /// Everything below `low` is in.
  void raise(std::uint64_t low);
  std::uint64_t low() const noexcept { return low_; }
  /// The runs above `low()`.
  std::vector<sequence_range> above() const;

private:
  std::uint64_t low_ = 0;
  std::map<std::uint64_t, std::uint64_t> above_; // first -> end
};

} // namespace pubsub
