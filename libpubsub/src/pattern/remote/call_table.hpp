// The calls of a client that are not complete: those that wait to be sent, and the order in which
// they complete. Pure.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pubsub/data_message.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/error.hpp>
#include <pubsub/pattern/remote_options.hpp>
#include <pubsub/value/endpoint_id.hpp>

#include "pattern/remote/id_map.hpp"

namespace pubsub::pattern {

/// A call, shared with the threads that wait for it. Its error, result and storage do not change
/// once `done` is true.
struct remote_call {
  std::atomic<bool> done{false};
  std::uint64_t number = 0;
  pubsub::error error;
  data_view result; ///< where there is no error
  data_message storage;
  std::vector<std::function<void()>> then; ///< called as it completes; guarded by the client

  bool is_done() const noexcept { return done.load(std::memory_order_acquire); }
};

/// Not thread-safe. Each call completes exactly once.
class call_table {
public:
  using time = std::chrono::steady_clock::time_point;
  using call_ptr = std::shared_ptr<remote_call>;
  using operation_map = std::map<std::string, remote_conditions, std::less<>>;
  using operation = operation_map::value_type; ///< name, and its averages

  enum class stage : std::uint8_t {
    waiting,  ///< to be sent
    asked,    ///< an instance has it
    answered, ///< it completes once all calls before it have
  };
  struct entry {
    call_ptr call;
    call_table::operation* operation = nullptr;
    stage at = stage::waiting;
    unsigned losses = 0; ///< of instances that had it
    time deadline{};
    std::string argument{};  ///< in bin::v1; a short one takes no memory of its own
    endpoint_id instance{};  ///< that was asked
    std::uint64_t place = 0; ///< in that instance's stream
  };

  /// The operations that calls have named. Never erased.
  const operation_map& operations() const noexcept { return operations_; }
  /// A new call, which waits behind all others.
  entry& add(std::string_view name, std::span<const std::byte> argument, time deadline) {
    auto what = operations_.find(name);
    if (what == operations_.end())
      what = operations_.try_emplace(std::string{name}).first;
    auto call = std::make_shared<remote_call>();
    const auto number = entries_.add({call, &*what, stage::waiting, 0, deadline});
    call->number = number;
    auto& its = *entries_.find(number);
    its.argument.assign(reinterpret_cast<const char*>(argument.data()), argument.size());
    waiting_.push_back(number);
    next_deadline_ = std::min(next_deadline_, deadline);
    ++counters_.submitted;
    return its;
  }
  /// Null once it is complete.
  entry* find(std::uint64_t number) noexcept { return entries_.find(number); }
  std::size_t size() const noexcept { return entries_.size(); }
  const remote_counters& counters() const noexcept { return counters_; }
  remote_counters& counters() noexcept { return counters_; }

  // -- calls that wait ---------------------------------------------------------------------------

  /// The first that waits; null if none does.
  entry* front() noexcept {
    for (; !waiting_.empty(); waiting_.pop_front()) {
      auto* its = entries_.find(waiting_.front());
      if (its != nullptr && its->at == stage::waiting)
        return its;
    }
    return nullptr;
  }
  /// By number, some of them complete by now; so `waiting().size()` is a round number.
  const std::deque<std::uint64_t>& waiting() const noexcept { return waiting_; }
  /// Those of these calls that an instance was asked and has not begun wait again, in their order,
  /// before all others.
  void put_first(std::span<const std::uint64_t> numbers) {
    // Not std::views::reverse: clang before 16 cannot compile libstdc++'s views.
    for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
      auto* its = entries_.find(*number);
      if (its == nullptr || its->at != stage::asked)
        continue;
      its->at = stage::waiting;
      waiting_.push_front(*number);
      ++counters_.repeated;
    }
  }
  void drop_first(std::size_t n) {
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(n));
  }

  // -- completion --------------------------------------------------------------------------------

  /// With the result or the error that it has. The entry is gone with it.
  void finish(entry& what) {
    const auto call = std::move(what.call);
    ++(call->error ? counters_.failed : counters_.done);
    entries_.erase(call->number);
    call->done.store(true, std::memory_order_release);
    for (const auto& each : std::exchange(call->then, {}))
      each();
  }
  void fail(entry& what, pubsub::error why) {
    what.call->error = std::move(why);
    finish(what);
  }
  /// Answered calls complete once all before them have.
  void finish_in_turn() {
    for (; next_in_turn_ < entries_.end(); ++next_in_turn_) {
      auto* its = entries_.find(next_in_turn_);
      if (its != nullptr && its->at != stage::answered)
        return;
      if (its != nullptr)
        finish(*its);
    }
  }
  void abandon(const pubsub::error& why) {
    entries_.for_each([&](std::uint64_t, entry& each) { fail(each, why); });
    waiting_.clear();
  }

  /// No deadline is earlier.
  time next_deadline() const noexcept { return next_deadline_; }
  /// Calls `late` with each whose deadline is over and which no instance has answered; it is to be
  /// completed there.
  template <class Late>
  void expire(time now, Late&& late) {
    next_deadline_ = time::max();
    entries_.for_each([&](std::uint64_t, entry& each) {
      if (each.deadline > now)
        next_deadline_ = std::min(next_deadline_, each.deadline);
      else if (each.at == stage::answered)
        finish(each); // its turn would come too late
      else
        late(each);
    });
    finish_in_turn();
  }

private:
  operation_map operations_;
  id_map<entry> entries_;
  std::uint64_t next_in_turn_ = 0; // calls before are complete
  std::deque<std::uint64_t> waiting_;
  time next_deadline_ = time::max();
  remote_counters counters_;
};

} // namespace pubsub::pattern
