#include "pattern/remote/call_table.hpp"

#include <utility>

namespace pubsub::pattern {

std::uint32_t call_table::index_of(std::string_view operation) {
  if (const auto* found = find_index(operation))
    return *found;
  const auto result = static_cast<std::uint32_t>(operations_.size());
  operations_.emplace_back(operation);
  index_.emplace(operation, result);
  return result;
}

const std::uint32_t* call_table::find_index(std::string_view operation) const {
  const auto found = index_.find(operation);
  return found == index_.end() ? nullptr : &found->second;
}

call_table::entry& call_table::add(std::uint32_t operation, time deadline) {
  auto call = std::make_shared<remote_call>();
  ++counters_.submitted;
  const auto number = entries_.add({call, operation, stage::waiting, 0, deadline});
  call->number = number;
  return *entries_.find(number);
}

call_table::entry* call_table::find(const remote_call& call) noexcept {
  auto* its = entries_.find(call.number);
  return its != nullptr && its->call.get() == &call ? its : nullptr;
}

call_table::entry* call_table::front() noexcept {
  for (; !waiting_.empty(); waiting_.pop_front()) {
    auto* its = entries_.find(waiting_.front());
    if (its != nullptr && its->at == stage::waiting)
      return its;
  }
  return nullptr;
}

void call_table::put_last(entry& what, std::span<const std::byte> argument) {
  what.argument.assign(reinterpret_cast<const char*>(argument.data()), argument.size());
  waiting_.push_back(what.call->number);
  next_deadline_ = std::min(next_deadline_, what.deadline);
}

void call_table::put_first(std::uint64_t number) {
  auto* its = entries_.find(number);
  if (its == nullptr || its->at != stage::asked)
    return;
  its->at = stage::waiting;
  waiting_.push_front(number);
  ++counters_.repeated;
}

void call_table::finish(entry& what, pubsub::error why, std::uint64_t& counter) {
  ++counter;
  const auto call = std::move(what.call);
  entries_.erase(call->number);
  call->error = std::move(why);
  call->done.store(true, std::memory_order_release);
  for (const auto& each : std::exchange(call->then, {}))
    each();
}

void call_table::finish_answered(entry& what) {
  auto& counter = what.call->error ? counters_.failed : counters_.done;
  finish(what, std::move(what.call->error), counter);
}

void call_table::finish_in_turn() {
  for (; next_in_turn_ < entries_.end(); ++next_in_turn_) {
    auto* its = entries_.find(next_in_turn_);
    if (its != nullptr && its->at != stage::answered)
      return;
    if (its != nullptr)
      finish_answered(*its);
  }
}

void call_table::abandon(const pubsub::error& why) {
  entries_.for_each([&](std::uint64_t, entry& each) { fail(each, why); });
  waiting_.clear();
}

} // namespace pubsub::pattern
