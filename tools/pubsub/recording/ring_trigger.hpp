// Says when a ring is to be written: some time after a message that fulfils a condition.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <pubsub/condition_matcher.hpp>
#include <pubsub/data_message.hpp>
#include <pubsub/value/time.hpp>

#include "stop_signal.hpp"

namespace pubsub::tool {

/// The message that a ring is written for.
struct ring_request {
  std::string topic;
  timestamp when; ///< it came
  std::uint64_t more =
      0; ///< messages that fulfilled the condition after it, before the ring was written
};

/// A request waits until its time is over, so that what follows the message is in the ring as well;
/// messages that fulfil the condition meanwhile are counted and ask for nothing. The columns that
/// the condition names are learnt from all messages. Not thread-safe.
class ring_trigger {
public:
  /// `after`: how long a request waits.
  ring_trigger(const condition& what, timespan after)
      : text_(what.text()), matcher_(what), after_(after) {}

  /// Looks at messages that have come at `when`, which is `now` on the clock of deadlines. True if
  /// a request has begun.
  bool look_at(std::span<const data_message> messages, timestamp when, clock::time_point now);
  /// When the ring is to be written; nothing while nothing asks for it.
  const deadline& due() const noexcept { return due_; }
  /// What asks for it, if anything does.
  const std::optional<ring_request>& waiting() const noexcept { return waiting_; }
  /// The same, and from now on another message can ask.
  std::optional<ring_request> take();

  const std::string& condition_text() const noexcept { return text_; }
  timespan after() const noexcept { return after_; }
  /// Messages that have asked for the ring, and those that came while one of them waited.
  std::uint64_t requests() const noexcept { return requests_; }
  std::uint64_t more() const noexcept { return more_; }

private:
  std::string text_;
  condition_matcher matcher_;
  timespan after_;
  std::optional<ring_request> waiting_;
  deadline due_;
  std::uint64_t requests_ = 0;
  std::uint64_t more_ = 0;
};

} // namespace pubsub::tool
