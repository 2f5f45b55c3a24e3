#include "queue/message_queue.hpp"

#include <algorithm>

#include "message/message_access.hpp"

namespace pubsub {

namespace {
constexpr std::size_t initial_slots = 64;
}

message_queue::message_queue(const queue_options& options)
    : options_(within_bounds(options)), ring_(initial_slots) {}

// -- producers ---------------------------------------------------------------------------------

push_result message_queue::push(data_message&& msg, std::uint32_t size_bytes, when_full mode) {
  std::unique_lock lock{mutex_};
  if (!finished_ && full()) {
    auto result = overflow(std::move(msg), size_bytes, mode, lock);
    if (result != push_result::taken)
      return result;
  } else if (finished_) {
    return refuse(1);
  } else {
    ++counters_.offered;
    append(std::move(msg), size_bytes);
  }
  wake_consumer(lock);
  return push_result::taken;
}

push_result message_queue::overflow(data_message&& msg, std::uint32_t size_bytes, when_full mode,
                                    std::unique_lock<std::mutex>& lock) {
  if (options_.policy == overflow_policy::block) {
    if (mode == when_full::wait) {
      ++producers_waiting_;
      not_full_.wait(lock, [&] { return finished_ || !full(); });
      --producers_waiting_;
    }
    if (finished_)
      return refuse(1);
    ++counters_.offered;
    append(std::move(msg), size_bytes);
    return push_result::taken;
  }
  ++counters_.offered;
  if (options_.policy == overflow_policy::drop_newest) {
    ++counters_.dropped_newest;
    return push_result::dropped;
  }
  while (full())
    drop_front();
  append(std::move(msg), size_bytes);
  wake_consumer(lock);
  return push_result::dropped;
}

bool message_queue::push_batch(std::span<queued_message> batch,
                               const std::weak_ptr<flow_source>& source) {
  std::unique_lock lock{mutex_};
  if (finished_) {
    refuse(batch.size());
    return false;
  }
  counters_.offered += batch.size();
  for (auto& [msg, size_bytes] : batch) {
    if (full() && options_.policy == overflow_policy::drop_newest) {
      ++counters_.dropped_newest;
      continue;
    }
    while (full() && options_.policy == overflow_policy::drop_oldest)
      drop_front();
    append(std::move(msg), size_bytes);
  }
  const bool pause = full() && options_.policy == overflow_policy::block;
  if (pause)
    paused_.add(source);
  wake_consumer(lock);
  return pause;
}

/// Called with the mutex held, for messages that arrive after the end.
push_result message_queue::refuse(std::size_t messages) noexcept {
  counters_.offered += messages;
  counters_.dropped_closed += messages;
  return push_result::closed;
}

bool message_queue::wait_for_room(std::chrono::steady_clock::time_point until) {
  std::unique_lock lock{mutex_};
  auto room = [&] { return finished_ || !full() || options_.policy != overflow_policy::block; };
  if (room())
    return true;
  ++producers_waiting_;
  const bool found = not_full_.wait_until(lock, until, room);
  --producers_waiting_;
  return found;
}

void message_queue::append(data_message&& msg, std::uint32_t size_bytes) {
  if (count_ == ring_.size())
    grow();
  auto& slot = ring_[(head_ + count_) & (ring_.size() - 1)];
  slot.msg = std::move(msg);
  slot.size_bytes = size_bytes;
  ++count_;
  bytes_ += size_bytes;
}

queued_message message_queue::take_front() noexcept {
  auto result = std::move(ring_[head_]);
  head_ = (head_ + 1) & (ring_.size() - 1);
  --count_;
  bytes_ -= result.size_bytes;
  return result;
}

void message_queue::drop_front() noexcept {
  take_front();
  ++counters_.dropped_oldest;
}

void message_queue::grow() {
  std::vector<queued_message> larger(ring_.size() * 2);
  for (std::size_t i = 0; i < count_; ++i)
    larger[i] = std::move(ring_[(head_ + i) & (ring_.size() - 1)]);
  ring_ = std::move(larger);
  head_ = 0;
}

void message_queue::wake_consumer(std::unique_lock<std::mutex>& lock) {
  if (count_ > 0) {
    fd_.set();
    readable_.store(true, std::memory_order_release);
  }
  const bool wake = std::exchange(consumer_waits_, false);
  lock.unlock();
  if (wake)
    not_empty_.notify_one();
}

// -- the consumer ------------------------------------------------------------------------------

std::size_t message_queue::pull(std::vector<data_message>& out, std::size_t max,
                                const deadline& until) {
  while (true) {
    std::unique_lock lock{mutex_};
    if (!wait_for_message(until, lock) || max == 0)
      return 0;
    const auto first = out.size();
    move_out(out, max, lock);
    if (const auto valid = drop_invalid(out, first); valid > 0)
      return valid;
  }
}

/// Called and returns with the mutex held. False on timeout, or when finished and empty.
bool message_queue::wait_for_message(const deadline& until, std::unique_lock<std::mutex>& lock) {
  if (count_ == 0 && !finished_ && watch_.open() &&
      (!until || *until > std::chrono::steady_clock::now())) {
    lock.unlock();
    watch_.watch([&] { return readable_.load(std::memory_order_acquire); });
    lock.lock();
  }
  if (count_ > 0 || finished_)
    return count_ > 0;
  fd_.clear();
  const auto since = std::chrono::steady_clock::now();
  auto ready = [&] {
    consumer_waits_ = count_ == 0 && !finished_;
    return !consumer_waits_;
  };
  if (!until)
    not_empty_.wait(lock, ready);
  else
    not_empty_.wait_until(lock, *until, ready);
  consumer_waits_ = false;
  watch_.learn(std::chrono::steady_clock::now() - since);
  return count_ > 0;
}

std::size_t message_queue::move_out(std::vector<data_message>& out, std::size_t max,
                                    std::unique_lock<std::mutex>& lock) {
  const auto n = std::min(max, count_);
  out.reserve(out.size() + n);
  for (std::size_t i = 0; i < n; ++i)
    out.push_back(take_front().msg);
  counters_.delivered += n;
  if (count_ == 0 && !finished_) {
    fd_.clear();
    readable_.store(false, std::memory_order_relaxed);
  }
  // Producers go on at half full, not at every free slot: one wake-up buys many messages.
  std::vector<std::weak_ptr<flow_source>> sources;
  bool wake = false;
  if (low()) {
    wake = producers_waiting_ > 0;
    sources = paused_.take();
  }
  lock.unlock();
  if (wake)
    not_full_.notify_all();
  resume_all(sources);
  return n;
}

std::size_t message_queue::drop_invalid(std::vector<data_message>& out, std::size_t first) {
  const auto begin = out.begin() + static_cast<std::ptrdiff_t>(first);
  const auto bad =
      std::remove_if(begin, out.end(), [](auto& m) { return !message_access::check(m); });
  if (const auto n = static_cast<std::size_t>(out.end() - bad); n > 0) {
    std::lock_guard lock{mutex_};
    counters_.delivered -= n;
    counters_.decode_errors += n;
  }
  out.erase(bad, out.end());
  return out.size() - first;
}

int message_queue::fd(bool ready) {
  std::lock_guard lock{mutex_};
  return fd_.open(ready || count_ > 0 || finished_);
}

std::size_t message_queue::size() const {
  std::lock_guard lock{mutex_};
  return count_;
}

// -- both --------------------------------------------------------------------------------------

void message_queue::finish() {
  std::unique_lock lock{mutex_};
  finished_ = true;
  fd_.set();
  readable_.store(true, std::memory_order_release);
  auto sources = paused_.take();
  lock.unlock();
  not_empty_.notify_all();
  not_full_.notify_all();
  resume_all(sources);
}

void message_queue::discard() {
  finish();
  std::lock_guard lock{mutex_};
  counters_.dropped_closed += count_;
  while (count_ > 0)
    take_front();
}

bool message_queue::finished() const {
  std::lock_guard lock{mutex_};
  return finished_;
}

subscriber_counters message_queue::counters() const {
  std::lock_guard lock{mutex_};
  auto result = counters_;
  result.queued = count_;
  return result;
}

} // namespace pubsub
