#include "queue/outbox.hpp"

#include <algorithm>
#include <cstring>

#include "base/bytes.hpp"

namespace pubsub {

namespace {

// A run is cut when it reaches this size, so that memory is given back piece by piece.
constexpr std::size_t max_run_bytes = 1024 * 1024;

std::size_t frame_bytes(const std::byte* frame) {
  return 4 + load_be<std::uint32_t>(frame);
}

/// Bytes of the first `messages` frames at `frames`.
std::size_t frames_bytes(const std::byte* frames, std::uint32_t messages) {
  const auto* end = frames;
  for (; messages > 0; --messages)
    end += frame_bytes(end);
  return static_cast<std::size_t>(end - frames);
}

} // namespace

outbox::outbox(const queue_options& options, std::function<void()> on_work)
    : options_(within_bounds(options)), on_work_(std::move(on_work)) {}

// -- producers ---------------------------------------------------------------------------------

push_result outbox::push(const chunk* owner, const std::byte* bytes, std::size_t size_bytes,
                         std::uint32_t messages, when_full mode) {
  std::unique_lock lock{mutex_};
  auto result = push_result::taken;
  if (!closed_ && full()) {
    if (options_.policy == overflow_policy::block) {
      if (mode == when_full::wait) {
        ++waiters_;
        changed_.wait(lock, [&] { return closed_ || !full(); });
        --waiters_;
      }
    } else if (options_.policy == overflow_policy::drop_newest) {
      counters_.offered += messages;
      counters_.dropped_newest += messages;
      return push_result::dropped;
    } else {
      while (full() && drop_oldest_message())
        result = push_result::dropped;
    }
  }
  if (closed_)
    return refuse(messages);
  append(owner, bytes, size_bytes, messages);
  notify(lock);
  return result;
}

bool outbox::push_from(const chunk* owner, const std::byte* bytes, std::size_t size_bytes,
                       std::uint32_t messages, const std::weak_ptr<flow_source>& source) {
  std::unique_lock lock{mutex_};
  if (closed_) {
    refuse(messages);
    return false;
  }
  if (options_.policy == overflow_policy::drop_newest) {
    const auto taken = messages_with_room(bytes, messages);
    counters_.offered += messages - taken;
    counters_.dropped_newest += messages - taken;
    if (taken == 0)
      return false;
    if (taken < messages)
      size_bytes = frames_bytes(bytes, taken);
    messages = taken;
  }
  append(owner, bytes, size_bytes, messages);
  if (options_.policy == overflow_policy::drop_oldest)
    while (over() && drop_oldest_message()) {
    }
  const bool pause = full() && options_.policy == overflow_policy::block;
  if (pause)
    paused_.add(source);
  notify(lock);
  return pause;
}

void outbox::push_control(std::span<const std::byte> frame) {
  auto copy = chunk::make(frame.size());
  std::memcpy(copy->data(), frame.data(), frame.size());
  const auto* bytes = copy->data();
  std::unique_lock lock{mutex_};
  if (closed_)
    return;
  runs_.push_back({intrusive_ptr<const chunk>::adopt(copy.detach()), bytes, frame.size(), 0});
  control_bytes_ += frame.size();
  notify(lock);
}

std::size_t outbox::control_bytes() const {
  std::lock_guard lock{mutex_};
  return control_bytes_;
}

bool outbox::wait_for_room(std::chrono::steady_clock::time_point until) {
  std::unique_lock lock{mutex_};
  auto room = [&] { return closed_ || !full() || options_.policy != overflow_policy::block; };
  if (room())
    return true;
  ++waiters_;
  const bool found = changed_.wait_until(lock, until, room);
  --waiters_;
  return found;
}

void outbox::append(const chunk* owner, const std::byte* bytes, std::size_t size_bytes,
                    std::uint32_t messages) {
  counters_.offered += messages;
  queued_messages_ += messages;
  queued_bytes_ += size_bytes;
  if (!runs_.empty()) {
    auto& last = runs_.back();
    const bool continues = last.owner.get() == owner && last.bytes + last.size_bytes == bytes;
    if (continues && last.messages > 0 && last.size_bytes < max_run_bytes) {
      last.size_bytes += size_bytes;
      last.messages += messages;
      return;
    }
  }
  runs_.push_back({intrusive_ptr<const chunk>::share(owner), bytes, size_bytes, messages});
}

/// Called with the mutex held, for messages that arrive after the end.
push_result outbox::refuse(std::uint32_t messages) noexcept {
  counters_.offered += messages;
  counters_.dropped_gone += messages;
  return push_result::closed;
}

/// How many of these frames fit, one after the other.
std::uint32_t outbox::messages_with_room(const std::byte* bytes,
                                         std::uint32_t messages) const noexcept {
  auto size = queued_bytes_;
  std::uint32_t taken = 0;
  for (; taken < messages && queued_messages_ + taken < options_.capacity_messages &&
         size < options_.capacity_bytes;
       ++taken) {
    const auto frame = frame_bytes(bytes);
    size += frame;
    bytes += frame;
  }
  return taken;
}

bool outbox::drop_oldest_message() {
  auto run = std::ranges::find_if(runs_, [](const frame_run& r) { return r.messages > 0; });
  if (run == runs_.end())
    return false;
  const auto size = frame_bytes(run->bytes);
  run->bytes += size;
  run->size_bytes -= size;
  --run->messages;
  --queued_messages_;
  queued_bytes_ -= size;
  ++counters_.dropped_oldest;
  if (run->messages == 0)
    runs_.erase(run);
  return true;
}

void outbox::notify(std::unique_lock<std::mutex>& lock) {
  const bool wake = std::exchange(writer_idle_, false);
  lock.unlock();
  if (wake)
    on_work_();
}

// -- the writer --------------------------------------------------------------------------------

void outbox::take(std::vector<frame_run>& out, std::size_t max_runs, std::size_t max_bytes) {
  std::lock_guard lock{mutex_};
  std::size_t bytes = 0;
  while (!runs_.empty() && out.size() < max_runs && bytes < max_bytes) {
    bytes += runs_.front().size_bytes;
    control_bytes_ -= runs_.front().messages == 0 ? runs_.front().size_bytes : 0;
    out.push_back(std::move(runs_.front()));
    runs_.pop_front();
  }
  writer_idle_ = out.empty();
}

void outbox::written(std::uint64_t messages, std::size_t size_bytes) {
  std::unique_lock lock{mutex_};
  if (closed_)
    return; // close() has counted them already
  counters_.sent += messages;
  queued_messages_ -= messages;
  queued_bytes_ -= size_bytes;
  std::vector<std::weak_ptr<flow_source>> sources;
  bool wake = false;
  if (low()) {
    wake = waiters_ > 0;
    sources = paused_.take();
  }
  lock.unlock();
  if (wake)
    changed_.notify_all();
  resume_all(sources);
}

// -- both --------------------------------------------------------------------------------------

void outbox::close() {
  std::unique_lock lock{mutex_};
  if (std::exchange(closed_, true))
    return;
  counters_.dropped_gone += queued_messages_;
  queued_messages_ = 0;
  queued_bytes_ = 0;
  control_bytes_ = 0;
  auto runs = std::move(runs_);
  runs_.clear();
  auto sources = paused_.take();
  lock.unlock();
  changed_.notify_all();
  resume_all(sources);
}

std::size_t outbox::wait_until_empty(std::chrono::steady_clock::time_point until) {
  std::unique_lock lock{mutex_};
  ++waiters_;
  changed_.wait_until(lock, until, [&] { return queued_messages_ == 0; });
  --waiters_;
  return queued_messages_;
}

link_counters outbox::counters() const {
  std::lock_guard lock{mutex_};
  auto result = counters_;
  result.queued = queued_messages_;
  return result;
}

} // namespace pubsub
