// What one endpoint has asked a peer, until it is answered.
#pragma once

#include <cstdint>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "queue/deadline.hpp"

namespace pubsub {

/// The answer to one question; nothing, if there will be none.
using inquiry = std::shared_future<std::optional<std::string>>;

/// Waits until the question is settled. False at the deadline.
inline bool wait_until_settled(const inquiry& x, const deadline& until) {
  if (until)
    return x.wait_until(*until) == std::future_status::ready;
  x.wait();
  return true;
}

/// The open questions of one session, by number. Thread-safe.
class inquiries {
public:
  struct ticket {
    std::uint32_t number = 0;
    inquiry answer;
  };

  /// After `end`, the question is settled at once.
  ticket open() {
    std::lock_guard lock{mutex_};
    std::promise<std::optional<std::string>> question;
    const ticket fresh{++last_, question.get_future().share()};
    if (ended_)
      question.set_value({});
    else
      open_[fresh.number] = std::move(question);
    return fresh;
  }
  /// Numbers that are not open are passed over.
  void answer(std::uint32_t number, std::optional<std::string> text) {
    std::lock_guard lock{mutex_};
    if (auto node = open_.extract(number))
      node.mapped().set_value(std::move(text));
  }
  /// Its answer is not waited for any more: there will be none.
  void forget(std::uint32_t number) { answer(number, {}); }
  /// There will be no more answers.
  void end() {
    std::lock_guard lock{mutex_};
    ended_ = true;
    for (auto& [number, question] : open_)
      question.set_value({});
    open_.clear();
  }

private:
  std::mutex mutex_; // guards everything below
  std::map<std::uint32_t, std::promise<std::optional<std::string>>> open_;
  std::uint32_t last_ = 0;
  bool ended_ = false;
};

} // namespace pubsub
