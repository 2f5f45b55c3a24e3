// What became of everything that a bridge has taken.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <pubsub/export.hpp>

namespace pubsub::bridge {

/// What was not passed on, by reason.
struct rejections {
  std::uint64_t announcements = 0;   ///< tells the columns of a log, and is no record itself
  std::uint64_t not_a_record = 0;    ///< the format or the name needs a record of a log
  std::uint64_t unknown_columns = 0; ///< a record whose columns were not announced before
  std::uint64_t no_such_field = 0;   ///< the key needs a column that the record does not have
  std::uint64_t bad_name = 0;        ///< the name that it should go to cannot be used
  std::uint64_t bad_payload = 0;     ///< not of the format that was expected
  std::uint64_t refused = 0;         ///< the other side does not take it: too large, not allowed
  std::uint64_t timed_out = 0;       ///< the engine has not confirmed it in time
  std::uint64_t returned = 0;        ///< has come from where it would go to
  std::uint64_t already_there = 0;   ///< was written before a restart
  std::uint64_t unwanted = 0;        ///< no subscriber wants its topic
  std::uint64_t dead = 0;            ///< lost with too many workers of a pipeline

  std::uint64_t total() const noexcept {
    return announcements + not_a_record + unknown_columns + no_such_field + bad_name + bad_payload +
           refused + timed_out + returned + already_there + unwanted + dead;
  }
};

/// Each with its name, as metrics have it.
PUBSUB_EXPORT std::vector<std::pair<std::string_view, std::uint64_t>>
by_reason(const rejections& x);

/// Messages, tasks or records. At any time `consumed == delivered + rejected.total() + in_flight`.
struct bridge_counters {
  std::uint64_t consumed = 0;  ///< taken from where they come from
  std::uint64_t delivered = 0; ///< confirmed by where they go to
  rejections rejected;
  std::uint64_t in_flight = 0;    ///< not confirmed yet
  std::uint64_t dead_letters = 0; ///< of those rejected, kept as dead letters
  std::uint64_t redelivered = 0;  ///< of those consumed, that may have been passed on before
  std::uint64_t bytes = 0;        ///< of the values that were delivered, as the engine has them
  /// Of a source: records that the engine has behind those that were consumed, as far as is known.
  std::uint64_t lag = 0;
};

} // namespace pubsub::bridge
