// SPDX-License-Identifier: BSD-3-Clause
#include "shim_pump.hpp"

#include <algorithm>

#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace faults {

namespace {

constexpr std::size_t read_bytes = 64 * 1024;
constexpr auto never = std::chrono::steady_clock::time_point::max();

auto into(boost::system::error_code& failure) {
  return asio::redirect_error(asio::use_awaitable, failure);
}

} // namespace

pump::pump(tcp::socket& from, tcp::socket& to, direction& rules)
    : from_(from), to_(to), rules_(rules), reader_(from.get_executor()),
      writer_(to.get_executor()) {}

asio::awaitable<void> pump::read() {
  while (!stopped_) {
    if (held_bytes_ >= room_bytes || (rules_.stalled && !pieces_.empty())) {
      co_await changed(reader_, never);
      continue;
    }
    const auto chunk = rules_.shape.chunk_bytes;
    std::vector<char> bytes(chunk == 0 ? read_bytes : std::min(chunk, read_bytes));
    boost::system::error_code failure;
    bytes.resize(co_await from_.async_read_some(asio::buffer(bytes), into(failure)));
    if (rules_.vanishing && !failure) {
      rules_.vanished_bytes += bytes.size();
      continue;
    }
    broken_ = failure && failure != asio::error::eof;
    held_bytes_ += bytes.size();
    pieces_.push_back({due_now(), std::move(bytes)});
    writer_.cancel();
    if (failure)
      co_return;
  }
}

asio::awaitable<bool> pump::write() {
  while (!stopped_) {
    if (pieces_.empty() || rules_.stalled) {
      co_await changed(writer_, never);
    } else if (clock::now() < pieces_.front().due) {
      co_await changed(writer_, pieces_.front().due);
    } else {
      const auto next = std::move(pieces_.front());
      pieces_.pop_front();
      held_bytes_ -= next.bytes.size();
      reader_.cancel();
      if (next.bytes.empty()) {
        boost::system::error_code ignored;
        if (!broken_)
          to_.shutdown(tcp::socket::shutdown_send, ignored);
        co_return !broken_;
      }
      if (!co_await write_bytes(next.bytes))
        co_return false;
    }
  }
  co_return true;
}

/// False if the target is gone.
asio::awaitable<bool> pump::write_bytes(const std::vector<char>& bytes) {
  boost::system::error_code failure;
  for (std::size_t at = 0; at < bytes.size() && !stopped_;) {
    const auto chunk = rules_.shape.chunk_bytes;
    const auto left = bytes.size() - at;
    const auto n = chunk == 0 ? left : std::min(chunk, left);
    co_await asio::async_write(to_, asio::buffer(bytes.data() + at, n), into(failure));
    if (failure)
      co_return false;
    at += n;
    rules_.carried_bytes += n;
    if (const auto rate = rules_.shape.bytes_per_second; rate > 0)
      co_await pause(std::chrono::nanoseconds{1'000'000'000 * n / rate});
  }
  co_return true;
}

/// The time it takes to send something; a change of the rules does not shorten it.
asio::awaitable<void> pump::pause(clock::duration time) {
  const auto until = clock::now() + time;
  while (clock::now() < until && !stopped_)
    co_await changed(writer_, until);
}

pump::clock::time_point pump::due_now() {
  const auto& shape = rules_.shape;
  if (shape.delay.count() == 0 && shape.jitter.count() == 0)
    return last_due_;
  std::uniform_int_distribution<std::int64_t> more{0, shape.jitter.count()};
  const std::chrono::milliseconds wait = shape.delay + std::chrono::milliseconds{more(rules_.dice)};
  last_due_ = std::max(last_due_, clock::now() + wait);
  return last_due_;
}

/// Returns at `until`, or as soon as somebody wakes this timer.
asio::awaitable<void> pump::changed(asio::steady_timer& timer, clock::time_point until) {
  boost::system::error_code woken;
  timer.expires_at(until);
  co_await timer.async_wait(into(woken));
}

void pump::wake() {
  reader_.cancel();
  writer_.cancel();
}

void pump::stop() {
  stopped_ = true;
  wake();
}

} // namespace faults
