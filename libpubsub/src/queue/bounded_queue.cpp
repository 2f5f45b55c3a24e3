// SPDX-License-Identifier: BSD-3-Clause
#include "queue/bounded_queue.hpp"

#include <algorithm>
#include <cassert>

#include "base/probe.hpp"

namespace pubsub {

namespace {

/// Calls `visit` with every entry that grows; there are `growing` of them.
template <class Entries, class Visitor>
void for_each_growing(Entries& entries, std::size_t growing, Visitor visit) {
  for (auto each = entries.rbegin(); growing > 0; ++each)
    if (each->growing) {
      --growing;
      visit(*each);
    }
}

} // namespace

bounded_queue::bounded_queue(const queue_options& options, shared_bounds* shared, entrance lets_in)
    : policy_(options.policy), selects_(lets_in == entrance::selected), bounds_(options, shared) {
  if (conflates())
    newest_.emplace();
}

// -- producers ---------------------------------------------------------------------------------

run_grant bounded_queue::open(const intrusive_ptr<message_run>& run, std::string_view topic) {
  assert(!takes_one_by_one());
  std::unique_lock lock{mutex_};
  settle(false);
  if (refuses_) // also once it has ended: who comes late finds another route
    return {push_result::would_block};
  if (ended_) {
    ++counts_.offered;
    PUBSUB_PROBE_IF_TRACED(drop, topic, 1, why_ended());
    return {count_late(1)};
  }
  if (!full_for_good() || policy_ == overflow_policy::block)
    return grant_room(run, push_result::taken);
  if (policy_ == overflow_policy::drop_oldest) {
    auto result = push_result::taken;
    while (bounds_.full() && drop_front())
      result = push_result::dropped;
    return grant_room(run, result);
  }
  ++counts_.offered;
  if (policy_ == overflow_policy::drop_newest) {
    ++counts_.dropped_newest;
    PUBSUB_PROBE_IF_TRACED(drop, topic, 1, "newest");
  } else {
    ++counts_.dropped_overflow;
    PUBSUB_PROBE_IF_TRACED(drop, topic, 1, "overflow");
    ended_ = overflowed_ = true;
    on_overflow(lock);
  }
  return {push_result::dropped};
}

push_result bounded_queue::count_late(std::uint64_t messages) noexcept {
  (overflowed_ ? counts_.dropped_overflow : counts_.dropped_closed) += messages;
  return push_result::closed;
}

run_grant bounded_queue::grant_room(const intrusive_ptr<message_run>& run, push_result result) {
  const auto granted = bounds_.room_for_some();
  entries_.push_back({.run = run, .growing = true, .granted = granted});
  ++growing_;
  bounds_.hold(granted);
  if (armed_)
    run->watch(0);
  return {result, true, granted.messages, granted.bytes};
}

void bounded_queue::wake() {
  std::unique_lock lock{mutex_};
  if (armed_ && available())
    signal(lock);
}

void bounded_queue::signal(std::unique_lock<std::mutex>& lock) {
  armed_ = false;
  on_work(lock);
}

bool bounded_queue::wait_for_room(const deadline& until) {
  if (!makes_wait())
    return true;
  std::unique_lock lock{mutex_};
  auto has_room = [&] { return ended_ || refuses_ || !full_for_good(); };
  if (has_room())
    return true;
  ++waiting_;
  const bool found = pubsub::wait_until(room_, lock, until, has_room);
  --waiting_;
  return found;
}

void bounded_queue::refuse_publishers() {
  std::lock_guard lock{mutex_};
  refuses_ = true;
  settle(true);
  room_.notify_all();
}

bool bounded_queue::push_run(const intrusive_ptr<message_run>& run,
                             const std::weak_ptr<flow_source>& source) {
  selection selected;
  if (selects_)
    select(run, selected);
  std::unique_lock lock{mutex_};
  on_arrival(*run);
  const auto result = enter(run, selected);
  const bool pause = makes_wait() && !ended_ && full_for_good();
  if (pause)
    paused_.add(source, left_ + static_cast<std::uint64_t>(bounds_.held_messages()));
  after_entry(result, lock);
  return pause;
}

push_result bounded_queue::push(const intrusive_ptr<message_run>& run) {
  selection selected;
  if (selects_)
    select(run, selected);
  std::unique_lock lock{mutex_};
  const auto result = enter(run, selected);
  after_entry(result, lock);
  return result;
}

/// Of a finished run everything enters, or what was selected; the rest counts as filtered.
push_result bounded_queue::enter(const intrusive_ptr<message_run>& run, const selection& selected) {
  const auto size = run->now().end;
  if (!selects_)
    return enter(run, {}, size);
  auto result = push_result::taken;
  std::uint64_t messages = 0;
  for (const auto& each : selected) {
    messages += each.to.messages - each.from.messages;
    const auto one = enter(each.run, each.from, each.to);
    result = one == push_result::taken || result == push_result::dropped ? result : one;
  }
  counts_.offered += size.messages - messages;
  counts_.filtered += size.messages - messages;
  return result;
}

/// A part of a finished run enters, as the policy says.
push_result bounded_queue::enter(const intrusive_ptr<message_run>& run, run_position from,
                                 run_position to) {
  const auto messages = to.messages - from.messages;
  counts_.offered += messages;
  if (ended_) {
    PUBSUB_PROBE_IF_TRACED(drop, run->topic_at(from), messages, why_ended());
    return count_late(messages);
  }
  if (newest_)
    return conflate(*run, from, to);
  settle(policy_ != overflow_policy::block || bounds_.full());
  if (policy_ == overflow_policy::drop_newest || policy_ == overflow_policy::disconnect)
    return enter_part(run, from, to);
  add_entry(run, from, to);
  auto result = push_result::taken;
  if (policy_ == overflow_policy::drop_oldest)
    while (bounds_.exceeded() && drop_front())
      result = push_result::dropped;
  return result;
}

/// The messages there is room for enter, one after the other.
push_result bounded_queue::enter_part(const intrusive_ptr<message_run>& run, run_position from,
                                      run_position to) {
  const auto part = bounds_.end_of_part_that_fits(*run, from, to);
  if (part.messages > from.messages)
    add_entry(run, from, part);
  const auto lost = to.messages - part.messages;
  if (lost == 0)
    return push_result::taken;
  if (policy_ == overflow_policy::drop_newest) {
    counts_.dropped_newest += lost;
    PUBSUB_PROBE_IF_TRACED(drop, run->topic_at(part), lost, "newest");
  } else {
    counts_.dropped_overflow += lost;
    PUBSUB_PROBE_IF_TRACED(drop, run->topic_at(part), lost, "overflow");
    ended_ = overflowed_ = true;
  }
  return push_result::dropped;
}

/// The message that has just come is never the one that goes, so that a queue whose messages are
/// all on their way out still holds the newest.
push_result bounded_queue::conflate(message_run& run, run_position from, run_position to) {
  auto result = push_result::taken;
  for (auto at = from; at.messages < to.messages;) {
    const run_position one{1, run.bytes_of(at, 1)};
    const auto replaced = newest_->put(run, at);
    if (replaced.messages > 0) {
      counts_.conflated += replaced.messages;
      PUBSUB_PROBE_IF_TRACED(drop, run.topic_at(at), replaced.messages, "conflated");
    }
    bounds_.let_go(replaced);
    bounds_.hold(one);
    while (bounds_.exceeded() && newest_->messages() > 1) {
      bounds_.let_go(newest_->drop_oldest());
      ++counts_.dropped_oldest;
      result = push_result::dropped;
    }
    at = {at.messages + 1, at.bytes + one.bytes};
  }
  return result;
}

void bounded_queue::add_entry(const intrusive_ptr<message_run>& run, run_position from,
                              run_position to) {
  entries_.push_back({.run = run, .taken = from, .end = to});
  bounds_.hold({to.messages - from.messages, to.bytes - from.bytes});
}

void bounded_queue::after_entry(push_result result, std::unique_lock<std::mutex>& lock) {
  if (result == push_result::dropped && ended_)
    on_overflow(lock); // it ends with this run
  else if (armed_ && available())
    signal(lock);
}

void bounded_queue::enter_control(intrusive_ptr<message_run> frame,
                                  std::unique_lock<std::mutex>& lock) {
  const auto size = frame->now().end;
  if (newest_)
    newest_->put_control({std::move(frame), {}, size});
  else
    entries_.push_back({.run = std::move(frame), .end = size});
  if (armed_)
    signal(lock);
}

// -- growing runs ------------------------------------------------------------------------------

/// Notices what was appended; a run that has ended gives back the room it did not use.
void bounded_queue::look_at(entry& x) noexcept {
  if (!x.growing)
    return;
  const auto [end, closed] = x.run->now();
  x.end = end;
  if (!closed)
    return;
  x.growing = false;
  --growing_;
  bounds_.let_go(x.granted);
  bounds_.hold(end);
  counts_.offered += end.messages;
}

/// Takes back the room of runs that have ended, or, with `revoke`, ends them for it.
void bounded_queue::settle(bool revoke) noexcept {
  for_each_growing(entries_, growing_, [&](entry& x) {
    if (revoke)
      x.run->close();
    look_at(x);
  });
}

/// Full even after unused room was taken back.
bool bounded_queue::full_for_good() {
  if (bounds_.full())
    settle(true);
  return bounds_.full();
}

bool bounded_queue::drop_front() noexcept {
  auto front = std::find_if(entries_.begin(), entries_.end(), [&](entry& x) {
    look_at(x);
    return !x.control() && !x.empty();
  });
  if (front == entries_.end())
    return false;
  PUBSUB_PROBE_IF_TRACED(drop, front->run->topic_at(front->taken), 1, "oldest");
  const auto size = front->run->bytes_of(front->taken, 1);
  front->taken.bytes += size;
  ++front->taken.messages;
  bounds_.let_go({1, size});
  ++counts_.dropped_oldest;
  if (front->empty() && !front->growing)
    entries_.erase(front);
  return true;
}

// -- the consumer ------------------------------------------------------------------------------

run_position bounded_queue::take(std::vector<run_slice>& out, const limits& most) {
  if (newest_)
    return newest_->take(out, most);
  run_position total;
  std::size_t kept = 0; // growing runs, all taken of what they hold: they stay, in front
  std::size_t i = 0;
  for (; i < entries_.size(); ++i) {
    auto& x = entries_[i];
    look_at(x);
    if (!x.empty()) {
      if (out.size() >= most.slices || total.bytes >= most.bytes ||
          (total.messages >= most.messages && !x.control()))
        break;
      run_position part{x.end.messages - x.taken.messages, x.end.bytes - x.taken.bytes};
      const auto left = most.messages - total.messages;
      const bool whole = part.messages <= left;
      if (!whole)
        part = {left, x.run->bytes_of(x.taken, left)};
      total.messages += part.messages;
      total.bytes += part.bytes;
      out.push_back({x.growing || !whole ? x.run : std::move(x.run), x.taken, part});
      x.taken = {x.taken.messages + part.messages, x.taken.bytes + part.bytes};
      if (!whole)
        break;
    }
    if (x.growing) {
      if (kept != i)
        entries_[kept] = std::move(x);
      ++kept;
    }
  }
  const auto begin = entries_.begin();
  entries_.erase(begin + static_cast<std::ptrdiff_t>(kept), begin + static_cast<std::ptrdiff_t>(i));
  return total;
}

bool bounded_queue::available() {
  if (newest_)
    return !newest_->empty();
  return std::ranges::any_of(entries_, [&](const entry& x) { return !x.empty(); }) ||
         std::ranges::any_of(entries_, [&](entry& x) {
           look_at(x);
           return !x.empty();
         });
}

bool bounded_queue::arm() {
  if (newest_ && !newest_->empty())
    return false;
  for (auto& each : entries_) {
    look_at(each);
    if (!each.empty() || (each.growing && !each.run->watch(each.end.bytes)))
      return false;
  }
  armed_ = true;
  return true;
}

bounded_queue::account bounded_queue::accounts() const noexcept {
  auto result = counts_;
  auto held = bounds_.held_messages();
  for_each_growing(entries_, growing_, [&](const entry& x) {
    const std::int64_t messages = x.run->now().end.messages;
    result.offered += static_cast<std::uint64_t>(messages);
    held -= std::int64_t{x.granted.messages} - messages;
  });
  result.queued = static_cast<std::uint64_t>(held);
  return result;
}

void bounded_queue::release(run_position size, std::unique_lock<std::mutex>& lock) {
  bounds_.let_go(size);
  left_ += size.messages;
  if (waiting_ == 0 && paused_.empty())
    return lock.unlock();
  settle(!bounds_.low()); // no publisher shall wait for room that is only reserved
  // Producers go on at half full, not at every free slot: one wake-up buys many messages.
  if (bounds_.low())
    return let_producers_go_on(lock);
  // New links bring what they have credit for without waiting, and may keep the queue full: who has
  // waited until all that was there before has left has its turn.
  const auto sources = paused_.take_behind(left_);
  lock.unlock();
  resume_all(sources);
}

void bounded_queue::let_producers_go_on(std::unique_lock<std::mutex>& lock) {
  const auto sources = paused_.take();
  lock.unlock();
  room_.notify_all();
  resume_all(sources);
}

// -- the end -----------------------------------------------------------------------------------

void bounded_queue::end_input(std::unique_lock<std::mutex>& lock) {
  ended_ = true;
  settle(true);
  let_producers_go_on(lock);
}

void bounded_queue::clear() {
  settle(true);
  if (const auto held = static_cast<std::uint64_t>(bounds_.held_messages()); held > 0) {
    counts_.dropped_closed += held;
    PUBSUB_PROBE_IF_TRACED(drop, {}, held, "closed");
  }
  entries_.clear();
  if (newest_)
    newest_->clear();
  bounds_.let_all_go();
}

} // namespace pubsub
