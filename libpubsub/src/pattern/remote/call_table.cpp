#include "pattern/remote/call_table.hpp"

#include <utility>

namespace pubsub::pattern {

call_table::entry& call_table::add(std::string_view name, std::span<const std::byte> argument,
                                   time deadline) {
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

call_table::entry* call_table::front() noexcept {
  for (; !waiting_.empty(); waiting_.pop_front()) {
    auto* its = entries_.find(waiting_.front());
    if (its != nullptr && its->at == stage::waiting)
      return its;
  }
  return nullptr;
}

void call_table::put_first(std::span<const std::uint64_t> numbers) {
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

void call_table::finish(entry& what) {
  const auto call = std::move(what.call);
  ++(call->error ? counters_.failed : counters_.done);
  entries_.erase(call->number);
  call->done.store(true, std::memory_order_release);
  for (const auto& each : std::exchange(call->then, {}))
    each();
}

void call_table::finish_in_turn() {
  for (; next_in_turn_ < entries_.end(); ++next_in_turn_) {
    auto* its = entries_.find(next_in_turn_);
    if (its != nullptr && its->at != stage::answered)
      return;
    if (its != nullptr)
      finish(*its);
  }
}

void call_table::abandon(const pubsub::error& why) {
  entries_.for_each([&](std::uint64_t, entry& each) { fail(each, why); });
  waiting_.clear();
}

} // namespace pubsub::pattern
