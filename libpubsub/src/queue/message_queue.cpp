#include "queue/message_queue.hpp"

#include <algorithm>

#include "message/message_access.hpp"

namespace pubsub {

namespace {

/// By so much a loop may come too late.
constexpr std::chrono::milliseconds coarse{1};

} // namespace

// -- the consumer ------------------------------------------------------------------------------

std::size_t message_queue::pull(std::vector<data_message>& out, std::size_t max,
                                const deadline& until, bool ahead) {
  const auto most = static_cast<std::uint32_t>(
      std::min<std::size_t>(max, std::numeric_limits<std::uint32_t>::max()));
  while (true) {
    if (!calls_.poll && watch_.paced() && (!until || *until > std::chrono::steady_clock::now()))
      watch_.pause();
    std::unique_lock lock{mutex_};
    if (!wait_for_message(until, lock) || max == 0)
      return 0;
    const auto size = take(slices_, {.messages = most});
    watch_.found(size.messages);
    delivered_ += size.messages;
    if (ahead)
      set_ahead(size.messages);
    update_fd();
    release(size, lock);
    if (const auto valid = read_slices(out, ahead); valid > 0)
      return valid;
  }
}

/// Called and returns with the mutex held. False on timeout, or when finished and empty.
bool message_queue::wait_for_message(const deadline& until, std::unique_lock<std::mutex>& lock) {
  if (calls_.poll)
    return poll_for_message(until, lock);
  if (!nothing())
    return available();
  const auto since = std::chrono::steady_clock::now();
  const bool keen = calls_.loop && watch_.brief() && (!until || *until - since > coarse);
  const auto may = keen ? calls_.loop->enter() : shared_loop::answer::refused;
  if (may == shared_loop::answer::entered)
    run_loop(until, lock);
  else if (may == shared_loop::answer::refused && watch_.open() && (!until || *until > since))
    watch(lock, nullptr);
  const bool served = may == shared_loop::answer::entered;
  if (block(until, lock, keen && !served) || served)
    watch_.learn(std::chrono::steady_clock::now() - since);
  return available();
}

void message_queue::watch(std::unique_lock<std::mutex>& lock, shared_loop* running) {
  lock.unlock();
  watch_.watch([&] {
    if (running)
      running->run_ready();
    std::lock_guard look{mutex_};
    return !nothing();
  });
  lock.lock();
}

/// Until there is something, or nearly the end: the loop's clock is coarse.
void message_queue::run_loop(const deadline& until, std::unique_lock<std::mutex>& lock) {
  fd_.clear();
  if (watch_.open())
    watch(lock, calls_.loop);
  for (bool going_on = true; going_on && nothing() && arm();) {
    consumer_ = place::in_loop;
    lock.unlock();
    going_on = until ? calls_.loop->run_one(*until - coarse) : calls_.loop->run_one();
    lock.lock();
  }
  consumer_ = place::awake;
  calls_.loop->leave();
}

/// True if it slept, here or in the loop.
bool message_queue::block(const deadline& until, std::unique_lock<std::mutex>& lock, bool keen) {
  bool slept = false;
  while (nothing() && arm()) {
    fd_.clear();
    if (begin_blocking(keen)) {
      run_loop(until, lock);
      keen = false;
      slept = true;
      continue;
    }
    auto woken = [&] { return consumer_ == place::awake; };
    if (!until)
      not_empty_.wait(lock, woken);
    else if (!not_empty_.wait_until(lock, *until, woken))
      break;
    slept = true;
  }
  if (consumer_ == place::asleep)
    end_blocking(false);
  return slept;
}

/// True where the loop has become free meanwhile: then the consumer is in it.
bool message_queue::begin_blocking(bool keen) {
  if (calls_.loop && calls_.loop->begin_blocking(keen))
    return true;
  consumer_ = place::asleep;
  keen_ = keen;
  return false;
}

void message_queue::end_blocking(bool woken) {
  consumer_ = place::awake;
  if (!calls_.loop)
    return;
  calls_.loop->end_blocking(keen_);
  if (woken && keen_)
    calls_.loop->offer();
}

bool message_queue::poll_for_message(const deadline& until, std::unique_lock<std::mutex>& lock) {
  while (nothing()) {
    lock.unlock();
    calls_.poll();
    lock.lock();
    if (until && *until <= std::chrono::steady_clock::now())
      break;
  }
  return available();
}

void message_queue::on_work(std::unique_lock<std::mutex>& lock) {
  fd_.set();
  wake_consumer(lock);
}

/// Unlocks where there is something to do.
void message_queue::wake_consumer(std::unique_lock<std::mutex>& lock) {
  switch (std::exchange(consumer_, place::awake)) {
  case place::awake:
    return;
  case place::asleep:
    end_blocking(true);
    lock.unlock();
    return not_empty_.notify_one();
  case place::in_loop:
    lock.unlock();
    return calls_.loop->interrupt();
  }
}

void message_queue::on_overflow(std::unique_lock<std::mutex>& lock) {
  fd_.set();
  wake_consumer(lock);
  if (lock.owns_lock())
    lock.unlock();
  if (calls_.on_overflow)
    calls_.on_overflow();
}

void message_queue::on_arrival(const message_run& run) {
  if (run.has_records() && !run.origin().endpoint.is_nil())
    streams_.note(run.origin(), run.now().end.messages);
}

void message_queue::forget_streams() {
  std::lock_guard lock{mutex_};
  streams_.forget();
}

/// The descriptor is readable exactly while a message or the end is there.
void message_queue::update_fd() {
  if (!fd_.is_open())
    return;
  if (available() || ended() || !arm())
    fd_.set();
  else
    fd_.clear();
}

/// Makes messages of the slices taken, without those that are no value.
std::size_t message_queue::read_slices(std::vector<data_message>& out, bool ahead) {
  const auto first = static_cast<std::ptrdiff_t>(out.size());
  for (const auto& each : slices_)
    each.run->read(each.from, each.size.messages, out);
  slices_.clear();
  const auto bad = std::remove_if(out.begin() + first, out.end(),
                                  [](auto& msg) { return !message_access::check(msg); });
  if (const auto n = static_cast<std::uint64_t>(out.end() - bad); n > 0) {
    std::lock_guard lock{mutex_};
    delivered_ -= n;
    decode_errors_ += n;
    if (ahead)
      set_ahead(this->ahead() - n);
  }
  out.erase(bad, out.end());
  return out.size() - static_cast<std::size_t>(first);
}

int message_queue::fd(bool ready) {
  std::lock_guard lock{mutex_};
  const auto result = fd_.open(true);
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
  fd_.set();
  end_input(lock);
  if (!lock.owns_lock())
    lock.lock();
  wake_consumer(lock);
}

void message_queue::discard() {
  finish();
  std::lock_guard lock{mutex_};
  clear();
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
          .missed = streams_.missed(),
          .restarts = streams_.restarts()};
}

} // namespace pubsub
