// SPDX-License-Identifier: BSD-3-Clause
#include "queue/message_queue.hpp"

#include <algorithm>

#include "base/probe.hpp"
#include "message/message_access.hpp"
#include "queue/tuning.hpp"

namespace pubsub {

// -- the consumer ------------------------------------------------------------------------------

std::size_t message_queue::pull(std::vector<data_message>& out, std::size_t max,
                                const deadline& until, bool ahead) {
  const auto most = static_cast<std::uint32_t>(
      std::min<std::size_t>(max, std::numeric_limits<std::uint32_t>::max()));
  while (true) {
    if (!until || *until > std::chrono::steady_clock::now())
      waiter_.pace();
    std::unique_lock lock{mutex_};
    waiter_.wait(
        lock, until, [this] { return available() || ended(); }, [this] { return arm(); });
    if (!available() || max == 0) // a message may have come since the last look, before `arm`
      return 0;
    const auto size = take(slices_, {.messages = most});
    waiter_.found(size.messages, size.messages == most && available());
    delivered_ += size.messages;
    if (ahead)
      set_ahead(size.messages);
    update_fd();
    release(size, lock);
    if (const auto valid = read_slices(out, ahead); valid > 0)
      return valid;
  }
}

void message_queue::on_work(std::unique_lock<std::mutex>& lock) {
  waiter_.wake(lock);
}

void message_queue::on_overflow(std::unique_lock<std::mutex>& lock) {
  waiter_.wake(lock);
  if (lock.owns_lock())
    lock.unlock();
  if (calls_.on_overflow)
    calls_.on_overflow();
}

void message_queue::on_arrival(const message_run& run) {
  if (!calls_.others_select && run.has_records() && !run.origin().endpoint.is_nil())
    streams_.note(run.origin(), run.now().end.messages);
}

/// Messages in a row stay in their run, unless they are few of many: then each is copied, so that
/// it does not keep the memory of the others.
void message_queue::select(const intrusive_ptr<message_run>& run, selection& out) {
  std::lock_guard lock{selecting_};
  const auto size = run->now().end;
  std::uint64_t kept_bytes = 0;
  bool in_a_row = false;
  for (run_position at; at.messages < size.messages;) {
    const run_position next{at.messages + 1, at.bytes + run->bytes_of(at, 1)};
    const bool wanted = calls_.selector->wants(run->topic_at(at), run->payload_at(at));
    if (wanted && in_a_row)
      out.back().to = next;
    else if (wanted)
      out.push_back({run, at, next});
    kept_bytes += wanted ? next.bytes - at.bytes : 0;
    in_a_row = wanted;
    at = next;
  }
  if (size.messages == 1 || kept_bytes * tuning::copied_part < size.bytes)
    copy_each(out);
}

void message_queue::copy_each(selection& out) {
  selection copies;
  for (const auto& each : out)
    for (auto at = each.from; at.messages < each.to.messages;) {
      auto alone = each.run->alone(at);
      at = {at.messages + 1, at.bytes + each.run->bytes_of(at, 1)};
      const auto end = alone->now().end;
      copies.push_back({std::move(alone), {}, end});
    }
  out = std::move(copies);
}

void message_queue::forget_streams() {
  std::lock_guard lock{mutex_};
  streams_.forget();
}

/// The descriptor is readable exactly while a message or the end is there.
void message_queue::update_fd() {
  if (waiter_.has_fd())
    waiter_.set_readable(available() || ended() || !arm());
}

/// Makes messages of the slices taken, without those that are no value.
std::size_t message_queue::read_slices(std::vector<data_message>& out, bool ahead) {
  const auto first = static_cast<std::ptrdiff_t>(out.size());
  for (const auto& each : slices_) {
    PUBSUB_PROBE_IF_TRACED(deliver, each.run->topic_at(each.from), each.size.messages,
                           each.size.bytes);
    each.run->read(each.from, each.size.messages, out);
  }
  slices_.clear();
  const auto bad = std::remove_if(out.begin() + first, out.end(),
                                  [](auto& msg) { return !message_access::check(msg); });
  if (const auto n = static_cast<std::uint64_t>(out.end() - bad); n > 0) {
    std::lock_guard lock{mutex_};
    delivered_ -= n;
    decode_errors_ += n;
    PUBSUB_PROBE_IF_TRACED(drop, {}, n, "undecodable");
    if (ahead)
      set_ahead(this->ahead() - n);
  }
  out.erase(bad, out.end());
  return out.size() - static_cast<std::size_t>(first);
}

int message_queue::fd(bool ready) {
  std::lock_guard lock{mutex_};
  const auto result = waiter_.fd(true);
  if (!ready)
    update_fd();
  return result;
}

std::size_t message_queue::size() const {
  std::lock_guard lock{mutex_};
  return accounts().queued;
}

// -- both --------------------------------------------------------------------------------------

void message_queue::finish() {
  std::unique_lock lock{mutex_};
  end_input(lock);
  if (!lock.owns_lock())
    lock.lock();
  waiter_.wake(lock);
}

void message_queue::discard() {
  finish();
  std::lock_guard lock{mutex_};
  clear();
  if (ahead() > 0)
    PUBSUB_PROBE_IF_TRACED(drop, {}, ahead(), "closed");
  discarded_ = true;
}

bool message_queue::finished() const {
  std::lock_guard lock{mutex_};
  return ended();
}

subscriber_counters message_queue::counters() const {
  std::lock_guard lock{mutex_};
  const auto ahead = this->ahead(); // no more than delivered_, under the mutex
  const auto now = accounts();
  return {.offered = now.offered,
          .delivered = delivered_ - ahead,
          .queued = now.queued + (discarded_ ? 0 : ahead),
          .dropped_oldest = now.dropped_oldest,
          .dropped_newest = now.dropped_newest,
          .decode_errors = decode_errors_,
          .dropped_closed = now.dropped_closed + (discarded_ ? ahead : 0),
          .conflated = now.conflated,
          .dropped_overflow = now.dropped_overflow,
          .filtered = now.filtered,
          .missed = streams_.missed(),
          .restarts = streams_.restarts()};
}

} // namespace pubsub
