// Waiting for what other threads do: conditions with deadlines, never fixed sleeps.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <poll.h>

namespace pubsub::test {

/// Long enough for a loaded machine under a sanitizer; a test that fails waits this long.
inline constexpr std::chrono::seconds patience{30};

/// True as soon as `holds` does; false if it does not before `limit` has passed.
template <class Condition>
bool eventually(Condition holds, std::chrono::milliseconds limit = patience) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!holds()) {
    if (std::chrono::steady_clock::now() >= until)
      return holds();
    ::poll(nullptr, 0, 1);
  }
  return true;
}

/// As `eventually`, without a pause between looks: for what would not last as long as one.
template <class Condition>
bool at_last(Condition holds) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() >= until)
      return false;
    std::this_thread::yield();
  }
  return true;
}

/// Whether `fd` is readable now.
inline bool readable(int fd) {
  pollfd one{fd, POLLIN, 0};
  return ::poll(&one, 1, 0) == 1 && (one.revents & POLLIN) != 0;
}

/// Opened once; whoever waits goes on then.
class gate {
public:
  void open() {
    {
      std::lock_guard lock{mutex_};
      open_ = true;
    }
    changed_.notify_all();
  }
  bool wait(std::chrono::milliseconds limit = patience) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, limit, [&] { return open_; });
  }

private:
  std::mutex mutex_; // guards open_
  std::condition_variable changed_;
  bool open_ = false;
};

} // namespace pubsub::test
