// Where the answers to questions about Broker's stores are put until they are read.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <pubsub/compat/broker/error.hpp>
#include <pubsub/endpoint.hpp>

namespace broker {
inline namespace over_pubsub {

/// Names a question of one `store::proxy`; counts from 1.
using request_id = std::uint64_t;

namespace detail {

/// A descriptor that is readable while it is raised: that of the only subscriber of an endpoint
/// with no peers.
class store_signal {
public:
  int fd() const { return inbox_.fd(); }
  void raise() { static_cast<void>(node_.publish("raised", pubsub::data{true})); }
  void lower() { static_cast<void>(inbox_.try_get()); }

private:
  pubsub::endpoint node_;
  pubsub::subscriber inbox_ = node_.make_subscriber({""});
};

/// Answers in the order in which they came. Any thread.
class store_responses {
public:
  struct response {
    expected<data> answer;
    request_id id;
  };

  void push(response x) {
    const std::lock_guard lock{mutex_};
    responses_.push_back(std::move(x));
    if (responses_.size() == 1 && signal_)
      signal_->raise();
    changed_.notify_all();
  }
  /// Waits for one; nothing once no more can come.
  std::optional<response> pop() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return closed_ || !responses_.empty(); });
    if (responses_.empty())
      return std::nullopt;
    auto result = std::move(responses_.front());
    responses_.pop_front();
    if (responses_.empty() && signal_)
      signal_->lower();
    return result;
  }
  void close() {
    const std::lock_guard lock{mutex_};
    closed_ = true;
    changed_.notify_all();
  }
  std::size_t size() const {
    const std::lock_guard lock{mutex_};
    return responses_.size();
  }
  int fd() {
    const std::lock_guard lock{mutex_};
    if (!signal_) {
      signal_ = std::make_unique<store_signal>();
      if (!responses_.empty())
        signal_->raise();
    }
    return signal_->fd();
  }

private:
  mutable std::mutex mutex_; // guards all members
  std::condition_variable changed_;
  std::deque<response> responses_;
  bool closed_ = false;
  std::unique_ptr<store_signal> signal_; ///< once a descriptor was asked for
};

} // namespace detail

/// The answers that a `store::proxy` has not handed out yet.
class mailbox {
public:
  explicit mailbox(std::shared_ptr<detail::store_responses> responses)
      : responses_(std::move(responses)) {}

  /// For select and poll: readable while there is an answer. Belongs to the proxy. -1 if that is
  /// not valid.
  int descriptor() { return responses_ != nullptr ? responses_->fd() : -1; }
  bool empty() { return size() == 0; }
  std::size_t size() { return responses_ != nullptr ? responses_->size() : 0; }
  std::size_t count(std::size_t = 0) { return size(); }

private:
  std::shared_ptr<detail::store_responses> responses_;
};

} // namespace over_pubsub
} // namespace broker
