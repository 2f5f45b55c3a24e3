// What a subscriber has seen, in memory that does not grow with the number of messages.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <pubsub/data_message.hpp>

namespace faults {

/// The messages of one publisher on one topic: which numbers came, and in what order. A number that
/// is skipped opens a gap; one that comes late is a reorder and closes its gap; one that comes
/// again is a duplicate. The newest `max_gaps` gaps are remembered number by number: one that comes
/// late into an older gap counts as a duplicate (a violation either way).
class stream_history {
public:
  static constexpr std::size_t max_gaps = 4'096;
  /// From the first missing number to the one after the last.
  using gap = std::pair<std::uint64_t, std::uint64_t>;

  void visit(std::uint64_t number);

  std::uint64_t first() const noexcept { return first_; }       ///< number of the first arrival
  std::uint64_t next() const noexcept { return next_; }         ///< one beyond the highest number
  std::uint64_t received() const noexcept { return received_; } ///< different numbers
  std::uint64_t missing() const noexcept { return next_ - received_; }
  std::uint64_t duplicates() const noexcept { return duplicates_; }
  std::uint64_t reorders() const noexcept { return reorders_; }
  /// Gaps ever opened.
  std::uint64_t gap_count() const noexcept { return gap_count_; }
  const std::deque<gap>& gaps() const noexcept { return gaps_; }

private:
  void open_gap(gap hole);
  bool close_gap(std::uint64_t number);

  std::uint64_t first_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t duplicates_ = 0;
  std::uint64_t reorders_ = 0;
  std::uint64_t gap_count_ = 0;
  std::deque<gap> gaps_; // ascending
};

/// All streams of one subscription. Not thread-safe.
class history {
public:
  void visit(const pubsub::data_message& msg);

  /// Messages that are not what their publisher has sent.
  std::uint64_t corrupt() const noexcept { return corrupt_; }
  /// A JSON list with one object per publisher and topic.
  std::string streams_json() const;

private:
  using topics = std::map<std::string, stream_history, std::less<>>;
  stream_history& stream_of(std::uint64_t publisher, std::string_view topic);

  std::map<std::uint64_t, topics> publishers_;
  std::uint64_t corrupt_ = 0;
};

} // namespace faults
