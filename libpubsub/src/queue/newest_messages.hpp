// What waits under the policy `conflate`: of each topic the newest message.
#pragma once

#include <list>
#include <string_view>
#include <unordered_map>

#include "message/message_run.hpp"
#include "queue/run_slice.hpp"

namespace pubsub {

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
  const run_slice& front() const noexcept { return waiting_.front(); }
  run_slice take_front();
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
