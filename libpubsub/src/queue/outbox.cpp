// SPDX-License-Identifier: BSD-3-Clause
#include "queue/outbox.hpp"

#include <cstring>
#include <utility>

namespace pubsub {

outbox::outbox(const queue_options& options, callbacks calls, shared_bounds* shared)
    : bounded_queue(options, shared), calls_(std::move(calls)) {
  arm();
}

void outbox::push_control(std::span<const std::byte> frame) {
  auto copy = chunk::make(frame.size());
  std::memcpy(copy->data(), frame.data(), frame.size());
  auto run = message_run::of_frames(copy.get(), copy->data(), {0, frame.size()});
  std::unique_lock lock{mutex_};
  if (ended())
    return;
  control_bytes_ += frame.size();
  enter_control(std::move(run), lock);
}

std::size_t outbox::control_bytes() const {
  std::lock_guard lock{mutex_};
  return control_bytes_;
}

void outbox::on_work(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  calls_.on_work();
}

void outbox::on_overflow(std::unique_lock<std::mutex>& lock) {
  lock.unlock();
  calls_.on_overflow();
}

// -- the writer --------------------------------------------------------------------------------

void outbox::take(std::vector<run_slice>& out, std::size_t max_slices, std::size_t max_bytes) {
  std::lock_guard lock{mutex_};
  if (max_slices == 0)
    return;
  do
    bounded_queue::take(out, {.slices = max_slices, .bytes = max_bytes});
  while (out.empty() && !ended() && !arm());
  for (const auto& each : out)
    control_bytes_ -= each.size.messages == 0 ? each.size.bytes : 0;
}

void outbox::written(run_position size) {
  std::unique_lock lock{mutex_};
  if (closed_)
    return; // close() has counted them already
  sent_ += size.messages;
  release(size, lock);
}

// -- both --------------------------------------------------------------------------------------

void outbox::close() {
  std::unique_lock lock{mutex_};
  if (std::exchange(closed_, true))
    return;
  control_bytes_ = 0;
  clear();
  end_input(lock);
}

std::size_t outbox::wait_until_empty(std::chrono::steady_clock::time_point until) {
  std::unique_lock lock{mutex_};
  ++waiting_;
  room_.wait_until(lock, until, [&] { return accounts().queued == 0; });
  --waiting_;
  return accounts().queued;
}

link_counters outbox::counters() const {
  std::lock_guard lock{mutex_};
  const auto now = accounts();
  return {.offered = now.offered,
          .sent = sent_,
          .queued = now.queued,
          .dropped_oldest = now.dropped_oldest,
          .dropped_newest = now.dropped_newest,
          .dropped_gone = now.dropped_closed,
          .conflated = now.conflated,
          .dropped_overflow = now.dropped_overflow};
}

} // namespace pubsub
