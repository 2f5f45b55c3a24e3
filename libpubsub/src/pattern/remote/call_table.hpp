// The calls of a client that are not complete: those that wait to be sent, and the order in which
// they complete. Pure.
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
#include <vector>

#include <pubsub/data_message.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/endpoint_id.hpp>
#include <pubsub/error.hpp>
#include <pubsub/pattern/remote_options.hpp>

#include "pattern/mailbox/id_map.hpp"

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
};

/// Not thread-safe. Each call completes exactly once.
class call_table {
public:
  using time = std::chrono::steady_clock::time_point;
  using call_ptr = std::shared_ptr<remote_call>;

  enum class stage : std::uint8_t {
    waiting,  ///< to be sent
    asked,    ///< an instance has it
    answered, ///< it completes once all calls before it have
  };
  struct entry {
    call_ptr call;
    std::uint32_t operation = 0; ///< index
    stage at = stage::waiting;
    unsigned losses = 0; ///< of instances that had it
    time deadline{};
    std::string argument{};  ///< in bin::v1; a short one takes no memory of its own
    endpoint_id instance{};  ///< that was asked
    std::uint64_t place = 0; ///< in that instance's stream
  };

  // -- operations, by index ----------------------------------------------------------------------

  std::uint32_t index_of(std::string_view operation);
  /// Null if no call has named it.
  const std::uint32_t* find_index(std::string_view operation) const;
  const std::string& name_of(std::uint32_t operation) const { return operations_[operation]; }

  // -- calls -------------------------------------------------------------------------------------

  /// It waits once `put_last` is called.
  entry& add(std::uint32_t operation, time deadline);
  /// Null once it is complete.
  entry* find(std::uint64_t number) noexcept { return entries_.find(number); }
  entry* find(const remote_call& call) noexcept;
  std::size_t size() const noexcept { return entries_.size(); }
  const remote_counters& counters() const noexcept { return counters_; }
  remote_counters& counters() noexcept { return counters_; }

  // -- calls that wait ---------------------------------------------------------------------------

  /// The first that waits; null if none does.
  entry* front() noexcept;
  /// By number, some of them complete by now; so `waiting().size()` is a round number.
  const std::deque<std::uint64_t>& waiting() const noexcept { return waiting_; }
  void put_last(entry& what, std::span<const std::byte> argument);
  /// It was asked for and has not begun: it waits again, before all others.
  void put_first(std::uint64_t number);
  void drop_first(std::size_t n) {
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(n));
  }

  // -- completion --------------------------------------------------------------------------------

  /// The entry is gone with it.
  void fail(entry& what, pubsub::error why) { finish(what, std::move(why), counters_.failed); }
  void finish_answered(entry& what);
  /// Answered calls complete once all before them have.
  void finish_in_turn();
  void abandon(const pubsub::error& why);

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
        finish_answered(each); // its turn would come too late
      else
        late(each);
    });
    finish_in_turn();
  }

private:
  void finish(entry& what, pubsub::error why, std::uint64_t& counter);

  std::vector<std::string> operations_;
  std::map<std::string, std::uint32_t, std::less<>> index_;
  id_map<entry> entries_;
  std::uint64_t next_in_turn_ = 0; // calls before are complete
  std::deque<std::uint64_t> waiting_;
  time next_deadline_ = time::max();
  remote_counters counters_;
};

} // namespace pubsub::pattern
