// SPDX-License-Identifier: BSD-3-Clause
#include "broker/inlet.hpp"

#include <utility>

namespace pubsub::broker {

void inlet::commit() {
  std::lock_guard lock{mutex_};
  counts_.taken += std::exchange(added_, 0);
  counts_.unconvertible += std::exchange(unconvertible_, 0);
  if (batch_.empty())
    return;
  if (closed_) {
    counts_.closed += batch_.size();
    batch_.clear();
    return;
  }
  if (options_.policy == overflow_policy::drop_newest)
    drop_newest();
  if (batch_.empty())
    return;
  batch_.count_while([this](std::size_t size) {
    bytes_ += size;
    return true;
  });
  messages_ += batch_.size();
  waiting_.push_back(std::exchange(batch_, spare_ ? std::move(*spare_) : encoded_batch{}));
  spare_.reset();
  if (options_.policy == overflow_policy::drop_oldest)
    drop_oldest();
  changed_.notify_one();
}

/// Of the batch, what finds room stays.
void inlet::drop_newest() {
  auto messages = messages_;
  auto bytes = bytes_;
  const auto fit = batch_.count_while([&](std::size_t size) {
    if (messages >= options_.capacity_messages || bytes >= options_.capacity_bytes)
      return false;
    ++messages;
    bytes += size;
    return true;
  });
  counts_.full += batch_.size() - fit;
  if (fit > 0)
    batch_.keep(fit);
  else
    batch_.clear();
}

/// The last message stays, whatever its size.
void inlet::drop_oldest() {
  while (messages_ > 1 &&
         (messages_ > options_.capacity_messages || bytes_ > options_.capacity_bytes)) {
    auto& oldest = waiting_.front();
    bytes_ -= oldest.size_bytes();
    --messages_;
    ++counts_.full;
    oldest.pop();
    if (oldest.empty())
      waiting_.pop_front();
  }
}

bool inlet::holds_back() const {
  if (options_.policy != overflow_policy::block)
    return false;
  std::lock_guard lock{mutex_};
  held_back_ = is_full() && !closed_;
  return held_back_;
}

bool inlet::next(encoded_batch& done, const bridge_counters& what, bool& roomy) {
  std::unique_lock lock{mutex_};
  counts_.given += what.given;
  counts_.unwanted += what.unwanted;
  counts_.refused += what.refused;
  counts_.closed += what.closed + done.size();
  done.clear();
  spare_ = std::move(done);
  done = {};
  changed_.wait(lock, [this] { return !waiting_.empty() || closed_; });
  if (waiting_.empty())
    return false;
  done = std::move(waiting_.front());
  waiting_.pop_front();
  messages_ -= done.size();
  done.count_while([this](std::size_t size) {
    bytes_ -= size;
    return true;
  });
  roomy = held_back_ && !is_full();
  held_back_ = held_back_ && !roomy;
  return true;
}

void inlet::close() {
  std::lock_guard lock{mutex_};
  closed_ = true;
  changed_.notify_one();
}

void inlet::discard() {
  std::lock_guard lock{mutex_};
  closed_ = true;
  discarded_ = true;
  counts_.closed += messages_;
  messages_ = 0;
  bytes_ = 0;
  waiting_.clear();
  changed_.notify_one();
}

bool inlet::discarded() const {
  std::lock_guard lock{mutex_};
  return discarded_;
}

bridge_counters inlet::counters() const {
  std::lock_guard lock{mutex_};
  auto result = counts_;
  result.queued = result.taken - result.given - result.dropped();
  return result;
}

} // namespace pubsub::broker
