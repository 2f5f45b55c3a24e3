// What waits under the policy `conflate`: of each topic the newest message.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <list>
#include <string_view>
#include <unordered_map>

#include "message/message_run.hpp"

namespace pubsub {

/// A part of a run: what leaves a queue.
struct run_slice {
  intrusive_ptr<message_run> run;
  run_position from;
  run_position size; ///< 0 messages for control frames, which are neither bounded nor dropped
};

/// How much is taken from a queue at a time.
struct take_limits {
  std::uint32_t messages = ~std::uint32_t{0};
  std::size_t slices = ~std::size_t{0};
  std::uint64_t bytes = ~std::uint64_t{0}; ///< about
};

/// Messages, each alone in its run, in the order in which they came, and control frames between
/// them. Every step is a look-up, whatever the number of topics. Not thread-safe: guarded by the
/// queue's mutex.
class newest_messages {
public:
  /// Takes the message at `at`. Returns the size of the one it replaces, or nothing.
  run_position put(message_run& run, run_position at);
  void put_control(run_slice frame) { waiting_.push_back(std::move(frame)); }

  /// Messages and control frames.
  bool empty() const noexcept { return waiting_.empty(); }
  std::size_t messages() const noexcept { return by_topic_.size(); }
  /// Moves the oldest to `out`. Returns how much that is, without control frames.
  run_position take(std::vector<run_slice>& out, const take_limits& most);
  /// Drops the message that has waited for longest; there is one. Returns its size.
  run_position drop_oldest();
  void clear() noexcept;

private:
  using place = std::list<run_slice>::iterator;

  run_slice take(place at);

  std::list<run_slice> waiting_;
  std::unordered_map<std::string_view, place> by_topic_; // the keys lie in the runs that wait
};

} // namespace pubsub
