// SPDX-License-Identifier: BSD-3-Clause
#include "rules/copier.hpp"

#include <vector>

namespace pubsub::tool {

namespace {

subscriber subscribe(endpoint& ep, const rule& by) {
  return by.match ? ep.make_subscriber(by.topics, *by.match) : ep.make_subscriber(by.topics);
}

} // namespace

copier::copier(endpoint& ep, const rule& by)
    : by_(by), ep_(ep), from_(subscribe(ep, by)), thread_([this] { run(); }) {}

/// The subscription ends first, so that the queue runs dry.
void copier::end() {
  if (!thread_.joinable())
    return;
  constexpr std::chrono::milliseconds time_between_looks{1};
  for (const auto& each : by_.topics)
    from_.remove_topic(each);
  const auto end = std::chrono::steady_clock::now() + patience;
  while (from_.counters().queued > 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(time_between_looks);
  gives_up_.store(true, std::memory_order_relaxed);
  from_.close();
  thread_.join();
}

rule_counters copier::counters() const noexcept {
  const auto passed = passed_.load(std::memory_order_relaxed);
  const auto dropped = dropped_.load(std::memory_order_relaxed);
  return {.matched = passed + dropped, .passed = passed, .dropped = dropped};
}

void copier::run() {
  constexpr std::size_t most_at_once = 256;
  constexpr std::chrono::seconds time_between_looks{1};
  auto to = ep_.make_publisher(*by_.text.publish);
  std::vector<data_message> batch;
  while (from_.get_batch_for(batch, most_at_once, std::chrono::hours{1}) !=
         receive_status::closed) {
    for (const auto& each : batch) {
      auto result = publish_result::would_block;
      do {
        result = to.publish_for(each, time_between_looks);
      } while (result == publish_result::would_block && !gives_up_.load(std::memory_order_relaxed));
      const bool taken = result == publish_result::taken || result == publish_result::unwanted;
      (taken ? passed_ : dropped_).fetch_add(1, std::memory_order_relaxed);
    }
    batch.clear();
  }
}

} // namespace pubsub::tool
