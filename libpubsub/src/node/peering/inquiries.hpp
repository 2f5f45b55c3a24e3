// What one endpoint has asked a peer, until it is answered.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "node/peering/tuning.hpp"
#include "queue/deadline.hpp"
#include "wire/native/inquiry.hpp"

namespace pubsub {

/// The open questions of one session, by number. No more is asked at a time than a peer answers:
/// the rest waits for its turn, but for questions whose answer has no body. Thread-safe; what is
/// passed in is called with no lock held, once, by the thread that settles the question.
class inquiries {
public:
  using settle = std::function<void(wire::reply)>;
  using send = std::function<void(std::uint32_t number)>;

  /// `ask` sends the question, now or later; its answer has at most that many bytes. After `end`
  /// the question is settled at once. Returns its number.
  std::uint32_t open(std::size_t most_bytes, send ask, settle done) {
    std::unique_lock lock{mutex_};
    const auto number = ++last_;
    if (ended_) {
      lock.unlock();
      done({.outcome = wire::reply_outcome::lost});
      return number;
    }
    if (most_bytes == 0) {
      open_.emplace(number, question{0, {}, std::move(done), true});
      lock.unlock();
      ask(number);
      return number;
    }
    open_.emplace(number, question{most_bytes, std::move(ask), std::move(done)});
    waiting_.push_back(number);
    ask_more(std::move(lock));
    return number;
  }

  struct ticket {
    std::uint32_t number = 0;
    std::shared_future<wire::reply> answer;
  };
  /// One without a body, for a thread that waits.
  ticket open(send ask) {
    const auto promise = std::make_shared<std::promise<wire::reply>>();
    ticket result{0, promise->get_future().share()};
    result.number =
        open(0, std::move(ask), [promise](auto answer) { promise->set_value(std::move(answer)); });
    return result;
  }

  /// Numbers that are not open are passed over.
  void answer(std::uint32_t number, wire::reply what) {
    std::unique_lock lock{mutex_};
    auto node = open_.extract(number);
    if (!node)
      return;
    if (node.mapped().asked)
      bytes_ -= node.mapped().most_bytes;
    std::erase(waiting_, number);
    ask_more(std::move(lock));
    node.mapped().done(std::move(what));
  }
  /// There will be no more answers.
  void end() {
    std::unique_lock lock{mutex_};
    ended_ = true;
    waiting_.clear();
    const auto left = std::exchange(open_, {});
    lock.unlock();
    for (const auto& [number, each] : left)
      each.done({.outcome = wire::reply_outcome::lost});
  }

private:
  struct question {
    std::size_t most_bytes = 0;
    send ask;
    settle done;
    bool asked = false;
  };

  void ask_more(std::unique_lock<std::mutex> lock) {
    std::vector<std::pair<std::uint32_t, send>> now;
    while (!waiting_.empty()) {
      auto& next = open_.at(waiting_.front());
      if (bytes_ > 0 && bytes_ + next.most_bytes > peering_tuning::most_bytes_asked)
        break;
      bytes_ += next.most_bytes;
      next.asked = true;
      now.emplace_back(waiting_.front(), next.ask);
      waiting_.pop_front();
    }
    lock.unlock();
    for (const auto& [number, ask] : now)
      ask(number);
  }

  std::mutex mutex_; // guards everything below
  std::map<std::uint32_t, question> open_;
  std::deque<std::uint32_t> waiting_; // for their turn
  std::size_t bytes_ = 0;             // of answers to what has been asked, at most
  std::uint32_t last_ = 0;
  bool ended_ = false;
};

/// Waits until the question is settled. False at the deadline.
inline bool wait_until_settled(const std::shared_future<wire::reply>& x, const deadline& until) {
  if (until)
    return x.wait_until(*until) == std::future_status::ready;
  x.wait();
  return true;
}

} // namespace pubsub
