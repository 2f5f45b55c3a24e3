// SPDX-License-Identifier: BSD-3-Clause
#include "queue/run_writer.hpp"

#include <algorithm>
#include <limits>

namespace pubsub {

void run_writer::seal() noexcept {
  if (run_)
    run_->close();
  run_ = {};
}

/// As `push`, where the run at hand does not go on.
push_result run_writer::push_fresh(exits to, const record_source& source, std::size_t size_bytes,
                                   const deadline& until) {
  while (true) {
    seal();
    if (!wait_for_room(to, until))
      return push_result::would_block;
    if (one_by_one(to))
      return push_alone(to, message_run::of_records(source, {1, size_bytes}));
    auto fresh = message_run::of_records(source);
    const auto topic = fresh->topic_at({});
    const auto result = open(to, std::move(fresh), topic);
    if (!run_ || append(size_bytes))
      return result;
  }
}

push_result run_writer::push(exits to, data_message& msg, std::uint32_t size_bytes,
                             const deadline& until, when_full mode) {
  auto result = push_result::taken;
  bool ready = goes_on(to);
  while (true) {
    if (!ready) {
      const bool filled = run_ && run_->full();
      next_slots_ = filled ? std::min(2 * next_slots_, most_slots) : first_slots;
      seal();
      if (mode == when_full::wait && !wait_for_room(to, until))
        return push_result::would_block;
      if (one_by_one(to)) {
        const auto alone = message_run::of_handles(1);
        alone->append(msg, size_bytes);
        alone->close();
        return push_alone(to, alone);
      }
      result = open(to, message_run::of_handles(next_slots_), get_topic(msg));
    }
    if (!run_)
      return result;
    const auto appended = run_->append(msg, size_bytes);
    if (appended != message_run::outcome::closed) {
      count(size_bytes, appended);
      return result;
    }
    ready = false;
  }
}

bool run_writer::wait_for_room(exits to, const deadline& until) {
  return std::ranges::all_of(to, [&](auto* each) { return each->wait_for_room(until); });
}

void run_writer::wake_all() {
  for (auto* each : to_)
    each->wake();
}

/// Some queue has to see each message: all get it in a run of its own.
bool run_writer::one_by_one(exits to) noexcept {
  return std::ranges::any_of(to, [](const auto* each) { return each->takes_one_by_one(); });
}

push_result run_writer::push_alone(exits to, const intrusive_ptr<message_run>& run) {
  if (to.size() > 1)
    run->set_shared();
  auto result = push_result::taken;
  for (auto* each : to)
    if (const auto one = each->push(run); one != push_result::taken)
      result = result == push_result::dropped ? result : one;
  return result;
}

/// Lets `fresh` enter all queues. Afterwards there is a run to append to, unless no queue takes the
/// next message, which has this topic.
push_result run_writer::open(exits to, intrusive_ptr<message_run> fresh, std::string_view topic) {
  if (to.size() > 1)
    fresh->set_shared();
  auto result = push_result::taken;
  bool entered = false;
  messages_left_ = fresh->most_messages();
  bytes_left_ = std::numeric_limits<std::int64_t>::max();
  for (auto* each : to) {
    const auto granted = each->open(fresh, topic);
    if (granted.result != push_result::taken) {
      messages_left_ = 1; // the queue is asked again, and counts again, for every message
      if (result != push_result::would_block)
        result = result == push_result::dropped && granted.result != push_result::would_block
                     ? result
                     : granted.result;
    }
    if (!granted.entered)
      continue;
    entered = true;
    messages_left_ = std::min(messages_left_, granted.messages);
    bytes_left_ = std::min(bytes_left_, static_cast<std::int64_t>(granted.bytes));
  }
  to_ = to;
  end_ = {};
  if (entered && result == push_result::would_block) // one refuses: none gets anything
    fresh->close();
  else if (entered)
    run_ = std::move(fresh);
  return result;
}

} // namespace pubsub
