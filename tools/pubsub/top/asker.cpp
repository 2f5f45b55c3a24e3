// SPDX-License-Identifier: BSD-3-Clause
#include "top/asker.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace pubsub::tool {

asker::asker(std::size_t threads) : most_slow_(std::max<std::size_t>(threads / 2, 1)) {
  if (::pipe2(pipe_, O_CLOEXEC | O_NONBLOCK) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe2");
  for (std::size_t i = 0; i < threads; ++i)
    threads_.emplace_back([this] { work(); });
}

asker::~asker() {
  {
    std::lock_guard lock{mutex_};
    ending_ = true;
  }
  more_.notify_all();
  for (auto& each : threads_)
    each.join();
  ::close(pipe_[0]);
  ::close(pipe_[1]);
}

void asker::ask(const std::string& about, expectation when, question what) {
  {
    std::lock_guard lock{mutex_};
    if (!asked_.insert(about).second)
      return;
    const bool slow = when == expectation::late;
    soon_open_ += slow ? 0 : 1;
    (slow ? late_ : soon_).push_back({about, std::move(what), slow});
  }
  more_.notify_one();
}

std::vector<answer> asker::take() {
  std::lock_guard lock{mutex_};
  char buffer[256];
  while (::read(pipe_[0], buffer, sizeof buffer) > 0) {
  }
  return std::exchange(answers_, {});
}

bool asker::settled() const {
  std::lock_guard lock{mutex_};
  return soon_open_ == 0 && answers_.empty();
}

/// The question to be asked next; false: none. Called with the mutex held.
bool asker::next(open_question& to) {
  auto& queue = soon_.empty() && slow_now_ < most_slow_ ? late_ : soon_;
  if (queue.empty())
    return false;
  to = std::move(queue.front());
  queue.pop_front();
  slow_now_ += to.slow ? 1 : 0;
  return true;
}

void asker::work() {
  std::unique_lock lock{mutex_};
  open_question now;
  for (;;) {
    more_.wait(lock, [&] { return ending_ || next(now); });
    if (ending_)
      return;
    lock.unlock();
    auto text = now.what();
    lock.lock();
    asked_.erase(now.about);
    answers_.push_back({now.about, std::move(text)});
    if (now.slow) {
      --slow_now_;
      more_.notify_one();
    } else {
      --soon_open_;
    }
    (void)!::write(pipe_[1], "", 1); // a pipe that is full is readable as well
  }
}

} // namespace pubsub::tool
