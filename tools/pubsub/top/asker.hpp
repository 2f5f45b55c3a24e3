// Asks many nodes at once, so that those that are slow keep no others waiting.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <pubsub/error.hpp>

namespace pubsub::tool {

struct answer {
  std::string about;
  expected<std::string> text;
};

/// How soon an answer can be expected.
enum class expectation : unsigned char { soon, late };

/// A few threads that ask. Questions whose answers can be expected late take at most half of the
/// threads. Thread-safety: one thread calls.
class asker {
public:
  /// Blocks until the answer is there, or it is clear that there will be none.
  using question = std::function<expected<std::string>()>;

  explicit asker(std::size_t threads);
  asker(const asker&) = delete;
  asker& operator=(const asker&) = delete;
  /// Waits for the questions that are being asked.
  ~asker();

  /// Returns at once. Nothing happens where a question about the same waits for its answer.
  void ask(const std::string& about, expectation when, question what);
  /// The answers that have come since the last call.
  std::vector<answer> take();
  /// Whether no answer waits for `take`, and none can be expected soon.
  bool settled() const;
  /// Readable while there are answers to take.
  int fd() const noexcept { return pipe_[0]; }

private:
  struct open_question {
    std::string about;
    question what;
    bool slow = false;
  };

  void work();
  bool next(open_question& to);

  const std::size_t most_slow_;
  int pipe_[2] = {-1, -1};

  mutable std::mutex mutex_; // guards all below but the threads
  std::condition_variable more_;
  std::deque<open_question> soon_;
  std::deque<open_question> late_;
  std::set<std::string> asked_; ///< about what, also while it is being asked
  std::vector<answer> answers_;
  std::size_t soon_open_ = 0; ///< questions of this kind without an answer
  std::size_t slow_now_ = 0;  ///< questions of the other kind that are being asked
  bool ending_ = false;

  std::vector<std::thread> threads_;
};

} // namespace pubsub::tool
