// Publishes recorded messages again, in their order and at their pace.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/condition_matcher.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/record/reader.hpp>
#include <pubsub/record/summary.hpp>

#include "stop_signal.hpp"
#include "terminal.hpp"

namespace pubsub::tool {

struct replay_plan {
  std::vector<record::summary> files; ///< in the order in which they are replayed
  record::reader_options which;
  std::optional<condition> where; ///< only messages that fulfil it
  /// How many times as fast as recorded; nothing: as fast as possible.
  std::optional<double> rate;
};

class replayer {
public:
  replayer(endpoint& ep, const replay_plan& plan, const stop_signal& stop)
      : ep_(ep), plan_(plan), stop_(stop) {
    if (plan.where)
      where_.emplace(*plan.where);
  }

  /// Publishes everything once. False if it was stopped, or a file cannot be read.
  bool run_once();

  std::uint64_t of(publish_result what) const { return results_[static_cast<std::size_t>(what)]; }
  /// Published or not.
  std::uint64_t messages() const noexcept { return messages_; }
  /// Left out by the condition.
  std::uint64_t filtered() const noexcept { return filtered_; }
  const skip_log& skipped() const noexcept { return skipped_; }
  bool failed() const noexcept { return failed_; }

private:
  bool replay(const std::string& path);
  bool wait_for_turn(timestamp recorded);
  void publish(const record::message& msg);
  /// Publishes a value unless the condition leaves it out.
  void publish(std::string_view topic, std::span<const std::byte> value);
  void show_progress();

  endpoint& ep_;
  const replay_plan& plan_;
  const stop_signal& stop_;
  std::optional<timestamp> first_; // recorded, of this round
  clock::time_point begin_;        // when that one was published
  clock::time_point next_line_;
  std::array<std::uint64_t, 8> results_{}; // by publish_result
  std::optional<condition_matcher> where_;
  std::uint64_t filtered_ = 0;
  std::uint64_t messages_ = 0;
  skip_log skipped_;
  bool failed_ = false;
};

} // namespace pubsub::tool
