// Makes connections on a thread of its own, so that who uses them never waits for names or servers.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <pubsub/error.hpp>

namespace pubsub::bridge {

/// Tries again and again, with growing pauses, until there is a connection. Thread-safe.
template <class Connection>
class connector {
public:
  /// Makes one connection; blocks for a few seconds at most.
  using attempt = std::function<expected<Connection>()>;

  /// `wake` is called on the connector's thread when `take` or `problem` has something new.
  connector(attempt connect, std::function<void()> wake)
      : connect_(std::move(connect)), wake_(std::move(wake)) {}
  connector(const connector&) = delete;
  connector& operator=(const connector&) = delete;
  /// Waits for an attempt that is under way.
  ~connector() {
    {
      std::lock_guard lock{mutex_};
      stopped_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable())
      thread_.join();
  }

  /// One connection is wanted. The thread starts with the first call.
  void start() {
    {
      std::lock_guard lock{mutex_};
      wanted_ = true;
    }
    changed_.notify_all();
    if (!thread_.joinable())
      thread_ = std::thread{[this] { run(); }};
  }
  std::optional<Connection> take() {
    std::lock_guard lock{mutex_};
    return std::exchange(made_, std::nullopt);
  }
  /// The last connection was of use, so that the pauses are short again.
  void went_well() {
    std::lock_guard lock{mutex_};
    pause_ = shortest;
  }
  /// Why the last attempt failed; empty once there is a connection.
  std::string problem() const {
    std::lock_guard lock{mutex_};
    return problem_;
  }

private:
  static constexpr std::chrono::milliseconds shortest{50};
  static constexpr std::chrono::milliseconds longest{2000};

  void run() {
    std::unique_lock lock{mutex_};
    bool first = true;
    while (true) {
      changed_.wait(lock, [this] { return stopped_ || wanted_; });
      if (!first)
        changed_.wait_for(lock, pause_, [this] { return stopped_; });
      if (stopped_)
        return;
      first = false;
      pause_ = std::min(pause_ * 2, longest);
      lock.unlock();
      auto result = connect_();
      lock.lock();
      if (result) {
        made_ = *std::move(result);
        wanted_ = false;
        problem_.clear();
      } else {
        problem_ = result.error().context();
      }
      lock.unlock();
      wake_();
      lock.lock();
    }
  }

  const attempt connect_;
  const std::function<void()> wake_;
  mutable std::mutex mutex_; // guards what follows, but for thread_
  std::condition_variable changed_;
  std::optional<Connection> made_;
  std::string problem_;
  std::chrono::milliseconds pause_ = shortest;
  bool wanted_ = false;
  bool stopped_ = false;
  std::thread thread_;
};

} // namespace pubsub::bridge
