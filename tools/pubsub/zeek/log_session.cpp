// SPDX-License-Identifier: BSD-3-Clause
#include "zeek/log_session.hpp"

#include "recording/moments.hpp"
#include "terminal.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace pubsub::tool {

namespace {

constexpr std::size_t most_at_once = 4096;
constexpr std::chrono::seconds between_ticks{1};

} // namespace

session_end log_session::run(const stop_signal& stop, command_signal& rotate) {
  auto next_tick = clock::now() + between_ticks;
  for (;;) {
    const auto why = wait_for_one_of({from_.fd(), rotate.fd()}, stop, next_tick);
    if (why == wake::stopped)
      return session_end::stopped;
    bool closed = false;
    if (why == wake::ready && !take_batch(closed))
      return session_end::failed;
    if (rotate.take() != 0 && !succeeded(to_.rotate(std::chrono::system_clock::now())))
      return session_end::failed;
    if (closed)
      return session_end::closed;
    if (clock::now() >= next_tick) {
      if (!tick())
        return session_end::failed;
      next_tick = clock::now() + between_ticks;
    }
  }
}

bool log_session::take_batch(bool& closed) {
  batch_.clear();
  closed = from_.get_batch_for(batch_, most_at_once, std::chrono::nanoseconds{0}) ==
           receive_status::closed;
  const auto now = std::chrono::system_clock::now();
  for (const auto& msg : batch_)
    if (const auto record = reader_.read(get_data(msg)))
      if (!succeeded(to_.write(*record, now)))
        return false;
  return true;
}

bool log_session::tick() {
  if (!succeeded(to_.tick(std::chrono::system_clock::now())))
    return false;
  const auto records = to_.totals().records;
  if (stderr_is_terminal())
    fmt::print(stderr, "{} records, {} records/s\n", grouped(records), grouped(records - shown_));
  shown_ = records;
  return true;
}

bool log_session::finish() {
  bool closed = false;
  // What comes meanwhile is not waited for: that might never end.
  for (auto left = from_.available(); left > 0 && !closed && !failed_;) {
    take_batch(closed);
    left = batch_.empty() ? 0 : left - std::min(left, batch_.size());
  }
  const auto ended = to_.close(std::chrono::system_clock::now());
  return failed_ || succeeded(ended); // one complaint is enough
}

bool log_session::succeeded(const expected<void>& done) {
  if (!done) {
    fail(done.error());
    failed_ = true;
  }
  return done.has_value();
}

} // namespace pubsub::tool
