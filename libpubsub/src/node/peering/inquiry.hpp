// What one endpoint has asked a peer, until it is answered.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "queue/deadline.hpp"

namespace pubsub {

/// One question. Thread-safe.
class inquiry {
public:
  enum class outcome : std::uint8_t { open, answered, gone };

  outcome state() const {
    std::lock_guard lock{mutex_};
    return state_;
  }
  /// Waits until it is no longer open. Returns what it is then, or at the deadline.
  outcome wait(const deadline& until) {
    std::unique_lock lock{mutex_};
    wait_until(settled_, lock, until, [&] { return state_ != outcome::open; });
    return state_;
  }
  /// Once answered.
  std::string take_answer() {
    std::lock_guard lock{mutex_};
    return std::move(answer_);
  }
  void settle(outcome how, std::string answer = {}) {
    {
      std::lock_guard lock{mutex_};
      if (state_ != outcome::open)
        return;
      state_ = how;
      answer_ = std::move(answer);
    }
    settled_.notify_all();
  }

private:
  mutable std::mutex mutex_; // guards everything below
  std::condition_variable settled_;
  outcome state_ = outcome::open;
  std::string answer_;
};

/// The open questions of one session, by number. Thread-safe.
class inquiries {
public:
  struct ticket {
    std::uint32_t number = 0;
    std::shared_ptr<inquiry> question;
  };

  /// After `end`, the question is settled at once.
  ticket open() {
    ticket fresh{0, std::make_shared<inquiry>()};
    std::lock_guard lock{mutex_};
    fresh.number = ++last_;
    if (ended_)
      fresh.question->settle(inquiry::outcome::gone);
    else
      open_[fresh.number] = fresh.question;
    return fresh;
  }
  /// Numbers that are not open are passed over.
  void answer(std::uint32_t number, std::string text = {}) {
    if (auto found = remove(number))
      found->settle(inquiry::outcome::answered, std::move(text));
  }
  /// Its answer is not waited for any more.
  void forget(std::uint32_t number) { remove(number); }
  /// There will be no more answers.
  void end() {
    std::lock_guard lock{mutex_};
    ended_ = true;
    for (const auto& [number, question] : open_)
      question->settle(inquiry::outcome::gone);
    open_.clear();
  }

private:
  std::shared_ptr<inquiry> remove(std::uint32_t number) {
    std::lock_guard lock{mutex_};
    const auto node = open_.extract(number);
    return node ? node.mapped() : nullptr;
  }

  std::mutex mutex_; // guards everything below
  std::map<std::uint32_t, std::shared_ptr<inquiry>> open_;
  std::uint32_t last_ = 0;
  bool ended_ = false;
};

} // namespace pubsub
