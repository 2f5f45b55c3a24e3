// Numbers that mostly follow one another, kept as runs. Pure: no I/O, no threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

namespace pubsub {

/// `count` numbers from `first` on.
struct number_run {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  friend bool operator==(const number_run&, const number_run&) = default;
};

/// Numbers in the order in which they were appended.
class number_list {
public:
  void append(const number_run& more) {
    size_ += more.count;
    if (!runs_.empty() && runs_.back().first + runs_.back().count == more.first)
      runs_.back().count += more.count;
    else
      runs_.push_back(more);
  }
  void append(std::uint64_t number) { append(number_run{number, 1}); }
  std::size_t size() const noexcept { return size_; }
  const std::vector<number_run>& runs() const noexcept { return runs_; }
  void clear() noexcept {
    runs_.clear();
    size_ = 0;
  }

private:
  std::vector<number_run> runs_;
  std::size_t size_ = 0;
};

/// Numbers that are taken in the order in which they were appended.
class number_queue {
public:
  void append(const number_run& more) { runs_.append(more); }
  /// The next that follow one another, at most so many; call it while there are some.
  number_run take(std::uint64_t most) noexcept {
    const auto& run = runs_.runs()[at_];
    const number_run result{run.first + taken_, std::min(run.count - taken_, most)};
    taken_ += result.count;
    if (taken_ == run.count) {
      ++at_;
      taken_ = 0;
    }
    return result;
  }

private:
  number_list runs_;
  std::size_t at_ = 0;      // the run that is next
  std::uint64_t taken_ = 0; // of it
};

/// A set of numbers that begins to be complete from below: what is below `low()` is in it.
class number_set {
public:
  /// False if it was in.
  bool insert(std::uint64_t number);
  void insert(const number_run& all);
  /// True if all of these follow what is in, and nothing is above: then they are in now.
  bool extend(std::uint64_t first, std::uint64_t n) noexcept {
    if (first != low_ || !above_.empty())
      return false;
    low_ += n;
    return true;
  }
  /// Everything below `low` is in.
  void raise(std::uint64_t low);
  bool contains(std::uint64_t number) const noexcept;
  std::uint64_t low() const noexcept { return low_; }
  /// The runs above `low()`.
  std::vector<number_run> above() const;

private:
  std::uint64_t low_ = 0;
  std::map<std::uint64_t, std::uint64_t> above_; // first -> end
};

} // namespace pubsub
