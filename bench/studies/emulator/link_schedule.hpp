// When bytes come out of one direction of a link: arithmetic on times that the caller names.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace emulator {

/// One direction of a link, shared by all connections. What enters waits its turn, passes at the
/// link's rate and then travels for the delay: it comes out in the order in which it entered, byte
/// by byte. No clock, no threads: `now` never goes back from call to call.
class link_schedule {
public:
  using time_point = std::chrono::steady_clock::time_point;

  /// `news` are what a connection does beside sending bytes: they take their turn, and no time.
  enum class part : unsigned char { bytes, open, opened, end, reset };

  /// Something that is through. `bytes` counts only for part::bytes.
  struct passed {
    std::uint64_t connection;
    part what;
    std::size_t bytes;
  };

  /// `bits_per_s` 0: without limit. Bytes come out in pieces of at least `piece_bytes`, or what is
  /// left of those that entered together, so that nobody has to look at every byte.
  link_schedule(double bits_per_s, std::chrono::nanoseconds delay, std::size_t piece_bytes);

  /// What has not yet passed does so at the new rate, and travels for the new delay; what travels
  /// already is not changed, and nothing overtakes it.
  void change(time_point now, double bits_per_s, std::chrono::nanoseconds delay,
              std::size_t piece_bytes);

  void enter(time_point now, std::uint64_t connection, std::size_t bytes);
  void enter(time_point now, std::uint64_t connection, part news);

  /// The next that is through by `now`; nothing if there is none yet.
  std::optional<passed> take(time_point now);
  /// When `take` has something next; nothing while the link is empty.
  std::optional<time_point> next() const;

  /// Bytes that have entered and were not taken.
  std::size_t held_bytes() const noexcept { return held_bytes_; }

private:
  // Parts of nanoseconds count where few bytes pass at a high rate.
  using span = std::chrono::duration<double, std::nano>;
  using moment = std::chrono::time_point<std::chrono::steady_clock, span>;

  // Its bytes pass one after the other between two moments, and come out `delay` later.
  struct segment {
    std::uint64_t connection;
    part what;
    std::size_t bytes;
    moment begins;
    moment ends;
    span delay;
    std::size_t taken = 0;

    std::size_t out_by(moment now) const;
  };

  void append(time_point now, std::uint64_t connection, part what, std::size_t bytes);
  span time_of(std::size_t bytes) const;

  double bits_per_s_;
  span delay_;
  std::size_t piece_bytes_;
  moment free_from_{}; // when the last that has entered has passed
  std::deque<segment> segments_;
  std::size_t held_bytes_ = 0;
};

} // namespace emulator
