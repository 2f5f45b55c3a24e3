// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/sink_ledger.hpp"

#include <utility>

namespace pubsub::bridge {

std::uint64_t sink_ledger::add(input_item&& item) {
  ++counts_.consumed;
  ++counts_.in_flight;
  counts_.redelivered += item.from().redelivered ? 1 : 0;
  entries_.emplace_back(std::move(item));
  return next_number() - 1;
}

rejection sink_ledger::settle(std::uint64_t number, outcome what, std::size_t bytes) {
  auto& x = at(number);
  --x.records;
  if (x.dead_letter) {
    counts_.dead_letters += what == outcome::written ? 1 : 0;
    finish(x, what == outcome::written);
    return nullptr;
  }
  if (what == outcome::written)
    counts_.bytes += bytes;
  else if (x.why == nullptr)
    x.why = what == outcome::refused ? &rejections::refused : &rejections::timed_out;
  if (x.records > 0 || x.why != nullptr)
    return x.records == 0 ? x.why : nullptr;
  finish(x, true);
  return nullptr;
}

void sink_ledger::reject(std::uint64_t number, rejection why) {
  auto& x = at(number);
  x.why = why;
  // A task that is no work is done; one that cannot be written is for another worker.
  finish(x, why == &rejections::announcements || why == &rejections::already_there);
}

void sink_ledger::expect_dead_letter(std::uint64_t number, rejection why) {
  auto& x = at(number);
  x.why = why;
  x.dead_letter = true;
  x.records = 1;
}

void sink_ledger::finish(entry& x, bool keep) {
  --counts_.in_flight;
  if (x.why == nullptr)
    ++counts_.delivered;
  else
    ++(counts_.rejected.*x.why);
  if (auto* const one = x.item->as_task(); one != nullptr && keep)
    done_.push_back(std::move(*one));
  x.item.reset(); // which rejects a task that was not done
}

void sink_ledger::drop_finished() {
  for (; !entries_.empty() && !entries_.front().item; ++first_)
    entries_.pop_front();
}

void sink_ledger::publish() {
  {
    const std::lock_guard lock{mutex_};
    shown_ = counts_;
  }
  if (!done_.empty())
    task::done(std::exchange(done_, {}));
  drop_finished();
  const std::lock_guard lock{mutex_};
  settled_below_ = first_;
}

bridge_counters sink_ledger::counters() const {
  const std::lock_guard lock{mutex_};
  return shown_;
}

std::uint64_t sink_ledger::settled_below() const {
  const std::lock_guard lock{mutex_};
  return settled_below_;
}

} // namespace pubsub::bridge
