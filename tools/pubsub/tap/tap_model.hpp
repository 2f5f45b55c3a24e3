// What `pubsub tap` shows and counts of the messages that come: no more than people can read.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace pubsub::tool {

struct tap_limits {
  double shown_per_s = 10;     ///< messages, at most; as many may come at once; 0: none is shown
  std::uint64_t one_of = 1;    ///< every so many of those that come; 1: all
  std::size_t topics = 10'000; ///< told apart; messages on others are counted together
};

class tap_model {
public:
  using time_point = std::chrono::steady_clock::time_point;

  tap_model(const tap_limits& limits, time_point now);

  /// Counts a message, and says whether it is one to show.
  bool take(std::string_view topic, std::size_t bytes, time_point now);
  std::uint64_t came() const noexcept { return came_; }
  std::uint64_t shown() const noexcept { return shown_; }

  /// `310 came: 100 shown, 200 passed over, 10 dropped here`, and what was lost on the way.
  std::string summary(std::uint64_t dropped, std::uint64_t missed) const;
  /// The `most` topics with the most messages, one a line, with rates since the beginning.
  std::string table(std::size_t most, time_point now) const;
  /// All of them, as one JSON object.
  std::string json(std::uint64_t dropped, std::uint64_t missed, time_point now) const;

private:
  struct counts {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
  };

  bool may_show(time_point now);
  double seconds_until(time_point now) const;

  const tap_limits limits_;
  const time_point began_;
  const double at_once_; ///< messages that may be shown without a pause
  double allowed_;       ///< messages that might have been shown at `then_`
  time_point then_;
  std::uint64_t came_ = 0;
  std::uint64_t shown_ = 0;
  std::map<std::string, counts, std::less<>> topics_;
  counts others_;
};

} // namespace pubsub::tool
